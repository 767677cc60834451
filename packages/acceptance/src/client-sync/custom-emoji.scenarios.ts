import { imageFile, MULTIPART, multipart } from '../testing/multipart.js';
import { type Rules, replaces } from '../testing/wire-rule.js';
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

export const CUSTOM_EMOJI_RULES: Rules = {
  'realm_emoji/add': ({ response, event: { emoji } }) => {
    response.realm_emoji[emoji.id] = emoji;
  },
  'realm_emoji/update_one': ({ response, event: { emoji_id, data } }) => {
    Object.assign(response.realm_emoji[emoji_id], data);
  },
  'realm_emoji/update': replaces('realm_emoji'),
};
