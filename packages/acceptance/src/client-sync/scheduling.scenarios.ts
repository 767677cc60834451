import type { Wire } from '../testing/expectations.js';
import type { Rules } from '../testing/wire-rule.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import { type Fields, type Scenarios, toTown } from './scenario.js';

export const SCHEDULING_SCENARIOS: Scenarios = {
  'POST /scheduled_messages': [
    {
      title: 'to a channel',
      as: 'hamlet',
      prepare: scheduleHello(20),
      params: later(10),
      heard: ['scheduled_messages/add'],
    },
  ],
  'PATCH /scheduled_messages/:scheduled_message_id': [
    {
      title: 'to a later time',
      as: 'hamlet',
      prepare: async (world) => {
        await scheduleHello(10)(world);
        await scheduleHello(20)(world);
      },
      at: () => ({ scheduled_message_id: 1 }),
      params: ({ server }) => ({ scheduled_delivery_timestamp: server.clock.now() + 30 }),
      heard: ['scheduled_messages/update'],
    },
  ],
  'DELETE /scheduled_messages/:scheduled_message_id': [
    {
      title: 'deleted',
      as: 'hamlet',
      prepare: scheduleHello(10),
      at: () => ({ scheduled_message_id: 1 }),
      heard: ['scheduled_messages/remove'],
    },
  ],
  'POST /reminders': [
    { title: 'of a message', as: 'hamlet', prepare: remindLater(20), params: reminding(10), heard: ['reminders/add'] },
  ],
  'DELETE /reminders/:reminder_id': [
    {
      title: 'deleted',
      as: 'hamlet',
      prepare: remindLater(10),
      at: () => ({ reminder_id: 1 }),
      heard: ['reminders/remove'],
    },
  ],
};

function later(seconds: number) {
  return (world: World): Fields => ({
    ...toTown('news')(world),
    content: 'hello',
    scheduled_delivery_timestamp: world.server.clock.now() + seconds,
  });
}

function scheduleHello(seconds: number) {
  return (world: World): Promise<unknown> =>
    world.server.post('/scheduled_messages', world.people.hamlet, later(seconds)(world));
}

function reminding(seconds: number) {
  return ({ server, messages }: World): Fields => ({
    message_id: messages[0],
    scheduled_delivery_timestamp: server.clock.now() + seconds,
  });
}

function remindLater(seconds: number) {
  return (world: World): Promise<unknown> =>
    world.server.post('/reminders', world.people.hamlet, reminding(seconds)(world));
}

/** Sorts by time, then by id (events §3.2). */
const byTime = (id: string) => (a: Wire, b: Wire) =>
  a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp || a[id] - b[id];

function putScheduled(response: Wire, message: Wire): void {
  const others = response.scheduled_messages.filter(
    (it: Wire) => it.scheduled_message_id !== message.scheduled_message_id,
  );
  response.scheduled_messages = [...others, message].sort(byTime('scheduled_message_id'));
}

export const SCHEDULING_RULES: Rules = {
  'scheduled_messages/add': ({ response, event }) => {
    for (const message of event.scheduled_messages) putScheduled(response, message);
  },
  'scheduled_messages/update': ({ response, event }) => putScheduled(response, event.scheduled_message),
  'scheduled_messages/remove': ({ response, event: { scheduled_message_id: id } }) => {
    response.scheduled_messages = response.scheduled_messages.filter((it: Wire) => it.scheduled_message_id !== id);
  },
  'reminders/add': ({ response, event }) => {
    response.reminders = [...response.reminders, ...event.reminders].sort(byTime('reminder_id'));
  },
  'reminders/remove': ({ response, event: { reminder_id: id } }) => {
    response.reminders = response.reminders.filter((it: Wire) => it.reminder_id !== id);
  },
};
