import type { Event, InitialState } from '@parley/client';
import { CHANNEL_RULES, CHANNELS_PART } from '../channels/channels.js';
import { applyToList, changesList } from '../kernel/lists.js';
import type { ChatState, EventRules, Rule, StatePart } from '../kernel/state.js';
import { MESSAGE_RULES } from '../messages/messages.js';
import { UNREAD_PART } from '../messages/unread.js';
import { ORGANIZATION_PART, ORGANIZATION_RULES } from '../organization/organization.js';
import { PEOPLE_PART, PEOPLE_RULES } from '../people/people.js';
import { PERSONAL_RULES } from '../personal/personal.js';

const PARTS: readonly StatePart[] = [ORGANIZATION_PART, PEOPLE_PART, CHANNELS_PART, UNREAD_PART];

/** An event type without a rule is a compile error, except for lists. */
export const EVENT_RULES: EventRules = {
  ...ORGANIZATION_RULES,
  ...PEOPLE_RULES,
  ...CHANNEL_RULES,
  ...MESSAGE_RULES,
  ...PERSONAL_RULES,
};

/** Replaces the state with a register response. */
export function begin(state: ChatState, answer: InitialState): void {
  for (const part of PARTS) part.begin(state, answer);
}

/** Adds wanted channels and users that a partial state lacks. */
export function addMore(state: ChatState, answer: Partial<InitialState>, isWanted: (id: number) => boolean): void {
  for (const part of PARTS) part.add?.(state, answer, isWanted);
}

/** Applies an event. Unknown events of newer servers are ignored. */
export function applyEvent(state: ChatState, event: Event): void {
  const rule = ruleFor(event);
  rule?.(state, event as never);
}

/** Returns the rule for events of this type, or null for an unknown type. */
export function ruleFor(event: Event): Rule<Event['type']> | null {
  const rule = EVENT_RULES[event.type] as Rule<Event['type']> | undefined;
  return rule ?? (changesList(event) ? applyToList : null);
}

/** Presents the state as the register response of a new client. */
export function present(state: ChatState): InitialState {
  return Object.assign({}, ...PARTS.map((part) => part.present(state)));
}
