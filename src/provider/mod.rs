//! Model backends behind one trait.
