//! The agent loop: prompts, probe, steps, sub-agents, budgets, session memory, parking.
