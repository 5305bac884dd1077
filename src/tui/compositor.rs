//! The stack of layers: what is on screen, and who is asked first.
//!
//! The top layer gets an input first. A popup that ignores it lets it through to the layer below; a full screen does
//! not. What nobody takes is the program's own.

use super::action::Context;
use super::ctx::Ctx;
use super::effect::Effect;
use super::input::{Answer, Input};
use super::pattern::Pattern;
use super::screens::{Route, Screen};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A layer, for as long as the program runs: ids are never used twice, so a late answer finds nobody.
/// The default one is nobody's: that of the program itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LayerId(u64);

/// A screen on the stack.
struct Layer {
    id: LayerId,
    route: Route,
    screen: Box<dyn Screen>,
    /// What is searched for on it.
    pattern: Option<Pattern>,
}

/// An effect and the layer that wants it.
pub type Wanted = (LayerId, Effect);

/// The stack. Its last layer is on top; it is empty while nothing was opened.
#[derive(Default)]
pub struct Compositor {
    layers: Vec<Layer>,
    last_id: u64,
}

impl Compositor {
    /// Puts a screen on top and tells it so.
    pub fn push(&mut self, route: Route, screen: Box<dyn Screen>, ctx: &Ctx<'_>) -> Vec<Wanted> {
        self.last_id += 1;
        self.layers.push(Layer {
            id: LayerId(self.last_id),
            route,
            screen,
            pattern: None,
        });
        self.tell_top(&Input::Opened, ctx)
    }

    /// Takes a layer away, unless it is the last full screen; the new top is told.
    pub fn remove(&mut self, id: LayerId, ctx: &Ctx<'_>) -> Vec<Wanted> {
        let was_top = self.top_id() == Some(id);
        let stays = |layer: &Layer| layer.id == id && !layer.screen.is_popup() && self.layers.len() == 1;
        if self.layers.iter().any(stays) {
            return Vec::new();
        }
        self.layers.retain(|layer| layer.id != id);
        if was_top {
            self.tell_top(&Input::Shown, ctx)
        } else {
            Vec::new()
        }
    }

    /// Takes away everything above the topmost screen of the same kind; `None` when there is none.
    pub fn return_to(&mut self, route: &Route, ctx: &Ctx<'_>) -> Option<Vec<Wanted>> {
        let mut layers = self.layers.iter();
        let place = layers.rposition(|layer| layer.route.same_screen(route))?;
        let covered = place + 1 < self.layers.len();
        self.layers.truncate(place + 1);
        Some(if covered {
            self.tell_top(&Input::Shown, ctx)
        } else {
            Vec::new()
        })
    }

    /// Takes away the layer right below the top when it is the same kind of screen: going back would lead nowhere new.
    pub fn merge_top(&mut self) {
        if let [.., below, top] = self.layers.as_slice()
            && below.route.same_screen(&top.route)
        {
            let below = below.id;
            self.layers.retain(|layer| layer.id != below);
        }
    }

    /// Takes everything away: another session was opened.
    pub fn clear(&mut self) {
        self.layers.clear();
    }

    /// Layers.
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// Whether a layer is still there.
    pub fn has(&self, id: LayerId) -> bool {
        self.layers.iter().any(|layer| layer.id == id)
    }

    /// The layer on top.
    pub fn top_id(&self) -> Option<LayerId> {
        self.layers.last().map(|layer| layer.id)
    }

    /// The route of the layer on top.
    pub fn top_route(&self) -> Option<&Route> {
        self.layers.last().map(|layer| &layer.route)
    }

    /// The screen on top.
    pub fn top(&self) -> Option<&dyn Screen> {
        self.layers.last().map(|layer| &*layer.screen)
    }

    /// What is searched for on the top layer.
    pub fn pattern(&self) -> Option<&Pattern> {
        self.layers.last().and_then(|layer| layer.pattern.as_ref())
    }

    /// Searches on the top layer for something else, or for nothing.
    pub fn search(&mut self, pattern: Option<Pattern>, ctx: &Ctx<'_>) -> Vec<Wanted> {
        let Some(layer) = self.layers.last_mut() else {
            return Vec::new();
        };
        layer.pattern = pattern;
        let outcome = layer.screen.update(&Input::Search(layer.pattern.as_ref()), ctx);
        wanted(layer.id, outcome.effects)
    }

    /// Offers an input to the layers from the top; `input` makes it for each layer's context, or `None` to pass it by.
    /// Returns whether one took it, and what is to be done.
    pub fn offer<'a>(
        &mut self,
        ctx: &Ctx<'_>,
        mut input: impl FnMut(Context) -> Option<Input<'a>>,
    ) -> (bool, Vec<Wanted>) {
        let mut effects = Vec::new();
        for layer in self.layers.iter_mut().rev() {
            if let Some(input) = input(layer.screen.context()) {
                let outcome = layer.screen.update(&input, ctx);
                effects.extend(wanted(layer.id, outcome.effects));
                if outcome.consumed {
                    return (true, effects);
                }
            }
            if !layer.screen.is_popup() {
                break;
            }
        }
        (false, effects)
    }

    /// Tells every layer: the model changed, or the size.
    pub fn tell_all(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Vec<Wanted> {
        let tell = |layer: &mut Layer| wanted(layer.id, layer.screen.update(input, ctx).effects);
        self.layers.iter_mut().flat_map(tell).collect()
    }

    /// Brings an answer to the layer that asked, if it is still there.
    pub fn answer(&mut self, id: LayerId, answer: &Answer, ctx: &Ctx<'_>) -> Vec<Wanted> {
        let layer = self.layers.iter_mut().find(|layer| layer.id == id);
        layer.map_or_else(Vec::new, |layer| {
            wanted(id, layer.screen.update(&Input::Answer(answer), ctx).effects)
        })
    }

    fn tell_top(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Vec<Wanted> {
        let layer = self.layers.last_mut();
        layer.map_or_else(Vec::new, |layer| {
            wanted(layer.id, layer.screen.update(input, ctx).effects)
        })
    }

    /// Paints the topmost full screen.
    pub fn draw_base(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let base = self.base_place();
        if let Some(layer) = self.layers.get_mut(base) {
            layer.screen.draw(area, buf, ctx);
        }
    }

    /// Paints the popups over it.
    pub fn draw_popups(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let base = self.base_place();
        for layer in self.layers.iter_mut().skip(base + 1) {
            layer.screen.draw(area, buf, ctx);
        }
    }

    fn base_place(&self) -> usize {
        let base = self.layers.iter().rposition(|layer| !layer.screen.is_popup());
        base.unwrap_or(0)
    }

    /// The route of the topmost full screen.
    pub fn base_route(&self) -> Option<&Route> {
        let mut layers = self.layers.iter().rev();
        layers.find(|layer| !layer.screen.is_popup()).map(|layer| &layer.route)
    }

    /// The topmost full screen: what the header and the footer speak of.
    pub fn base(&self) -> Option<&dyn Screen> {
        let mut layers = self.layers.iter().rev();
        layers
            .find(|layer| !layer.screen.is_popup())
            .map(|layer| &*layer.screen)
    }
}

fn wanted(id: LayerId, effects: Vec<Effect>) -> Vec<Wanted> {
    effects.into_iter().map(|effect| (id, effect)).collect()
}
