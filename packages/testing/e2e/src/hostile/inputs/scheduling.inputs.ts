import { HOSTILE_TEXTS } from '@parley/testkit';
import { type InputContext, type Inputs, messageIn, peopleOf } from '../input-context.js';
import type { Fields } from '../routes.js';

const IN_AN_HOUR = Math.floor(Date.now() / 1000) + 3600;
const inAnHour = ({ organization: { channelIds } }: InputContext, content: string): Fields => ({
  type: 'channel',
  to: channelIds.at(-1),
  topic: 'x',
  content,
  scheduled_delivery_timestamp: IN_AN_HOUR,
});
const scheduled = async (surroundings: InputContext): Promise<Fields> => {
  const { scheduled_message_id } = await surroundings.post('/scheduled_messages', inAnHour(surroundings, 'x'));
  return { scheduled_message_id };
};

export const INPUTS: Inputs = {
  'POST /scheduled_messages': {
    'a small one': (surroundings) => inAnHour(surroundings, 'x'),
    'a long one': (surroundings) => inAnHour(surroundings, HOSTILE_TEXTS.mixed!),
    'to everybody by id': (surroundings) => ({
      ...inAnHour(surroundings, HOSTILE_TEXTS.words!),
      type: 'direct',
      to: peopleOf(surroundings),
    }),
  },
  'PATCH /scheduled_messages/:scheduled_message_id': {
    'a new time': async (surroundings) => ({
      ...(await scheduled(surroundings)),
      scheduled_delivery_timestamp: IN_AN_HOUR + 1,
    }),
    'a long text': async (surroundings) => ({ ...(await scheduled(surroundings)), content: HOSTILE_TEXTS.mixed }),
  },
  'POST /reminders': {
    'of a message': async (surroundings) => ({
      message_id: await messageIn(surroundings, 'reminders'),
      scheduled_delivery_timestamp: IN_AN_HOUR,
      note: 'x'.repeat(1000),
    }),
  },
};
