//! The engine's events in the words of the model.

use crate::engine::{RunEvent, What};
use crate::model::{LiveEvent, LiveNews};

/// What an event is for the model; `None` for what it does not show.
pub(super) fn live_event(event: RunEvent) -> Option<LiveEvent> {
    let news = match event.what {
        What::Started { task } => LiveNews::Started(task),
        What::CallStarted { step } => LiveNews::Calling(step),
        What::Text(text) => LiveNews::Text(text),
        What::Reasoning(text) => LiveNews::Reasoning(text),
        What::CallEnded { code, usage } => LiveNews::Replied {
            code,
            usage: usage.tokens(),
            cost: usage.cost(),
        },
        What::Output(text) => LiveNews::Output(text),
        What::StepEnded { step, .. } => LiveNews::Kept(step),
        What::Ended { .. } => LiveNews::Ended,
        What::Probed { .. } | What::Guarded { .. } | What::Asked(_) | What::Final(_) | What::Notice(_) => return None,
    };
    Some(LiveEvent::Agent {
        run_id: event.agent.run_id.to_string(),
        parent: event.agent.parent.map(|parent| parent.to_string()),
        time: event.time,
        news,
    })
}
