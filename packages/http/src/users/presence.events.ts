import type { EventOf } from '@parley/domain/kernel';
import { type PresenceEventTypes, type PresenceTimes, timesAfterSwitch, type User } from '@parley/domain/users';
import { form, formWithout } from '../events/event-forms.js';
import { type EventContext, keyOf, opened, type Presented, type Presenters } from '../events/event-presenter.js';
import { can } from '../events/queue-presentation.js';
import * as wire from '../kernel/wire-schema.js';
import { presenceByClient, presenceTimes } from './presence.answers.js';
import { presenceAddress, presentClient, presentTimes } from './presence.presenters.js';

const CAPABILITY = 'simplified_presence_events';

/** Events §7.4. */
const FORMS = [
  form('presence', { presences: wire.dictionaryOf(presenceTimes) }),
  formWithout(CAPABILITY, 'presence', {
    user_id: wire.integer(),
    email: wire.optional(wire.text()),
    server_timestamp: wire.number(),
    presence: presenceByClient,
  }),
];

export const PRESENCE_EVENTS = {
  'presence.came_online': {
    forms: FORMS,
    needs: ({ user }) => ({ userIds: [user.id] }),
    present: ({ user, times, at }, context) => presentChange(user, times, at, context),
  },
  'user.presence_switched': {
    forms: FORMS,
    needs: ({ user }) => ({ userIds: [user.id] }),
    present: (event, context) => presentSwitch(event, context),
  },
} satisfies Presenters<keyof PresenceEventTypes | 'user.presence_switched'>;

function presentSwitch({ user, at }: EventOf<'user.presence_switched'>, context: EventContext): Presented {
  return presentChange(user, timesAfterSwitch(user.settings.presenceEnabled, at), at, context);
}

/** Events §7.4. */
function presentChange(user: User, times: PresenceTimes, at: number, context: EventContext): Presented {
  const { presentation, publicRealm, receiver } = context;
  const isSimplified = can(presentation, CAPABILITY);
  const { slimPresence } = presentation;
  const isHidden = receiver.inaccessible.has(user.id);
  const fields = () =>
    isSimplified
      ? { presences: { [user.id]: presentTimes(times, user) } }
      : {
          user_id: user.id,
          ...(!slimPresence && { email: presenceAddress(user, publicRealm, isHidden) }),
          server_timestamp: at,
          presence: presentClient(times),
        };
  return [
    [context.shared(keyOf(isSimplified, slimPresence, isHidden), () => opened({ type: 'presence', ...fields() }))],
  ];
}
