//! Opening a target: files and store become model events. The only way of the viewer to data.
