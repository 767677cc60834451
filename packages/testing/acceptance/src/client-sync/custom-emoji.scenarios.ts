import { imageFile, MULTIPART, multipart } from '../testing/multipart.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

const IMAGE = multipart([imageFile()]);
const tick = () => ({ emoji_name: 'tick' });

export const CUSTOM_EMOJI_SCENARIOS: Scenarios = {
  'POST /realm/emoji/*emoji_name': [
    {
      title: 'a picture',
      as: 'hamlet',
      at: tick,
      body: IMAGE,
      heard: ['realm_emoji/add', 'realm_emoji/update'],
    },
  ],
  'DELETE /realm/emoji/*emoji_name': [
    {
      title: 'one’s own',
      as: 'hamlet',
      prepare: addTick,
      at: tick,
      heard: ['realm_emoji/update', 'realm_emoji/update_one'],
    },
  ],
};

function addTick({ server, people }: World): Promise<unknown> {
  return server.request('POST', '/realm/emoji/tick', { as: people.hamlet, body: IMAGE, headers: MULTIPART });
}
