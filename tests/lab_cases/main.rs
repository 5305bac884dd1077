//! The acceptance cases of the store and the lab, by their numbers: offline, with scripted models and the real sandbox.

mod desk;
mod reading;
mod replays;
mod sessions;
