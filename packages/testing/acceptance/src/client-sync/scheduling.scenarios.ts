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
    {
      title: 'a reminder of a message',
      as: 'hamlet',
      prepare: remindLater(20),
      params: reminding(10),
      heard: ['reminders/add'],
    },
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
