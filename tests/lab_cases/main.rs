//! The acceptance cases of the store and the lab, by their numbers: offline, with scripted models and the real sandbox.

mod copies;
mod crashes;
mod desk;
mod forks;
mod pauses;
mod reading;
mod replays;
mod sessions;
mod what_ifs;
