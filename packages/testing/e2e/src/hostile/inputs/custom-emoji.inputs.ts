import { FormFile } from '../encode.js';
import { type Inputs, MANY_PIXELS } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /realm/emoji/*emoji_name': {
    'many pixels': ({ n }) => ({ emoji_name: `pixels-${n}`, file: new FormFile('a.png', MANY_PIXELS) }),
  },
  'DELETE /realm/emoji/*emoji_name': {
    one: async ({ addEmoji }) => ({ emoji_name: (await addEmoji()).name }),
  },
  'GET /user_avatars/:realm_id/emoji/images/:file': {
    one: async ({ addEmoji }) => ({ realm_id: 1, file: `${(await addEmoji()).id}.gif` }),
  },
  'GET /user_avatars/:realm_id/emoji/images/still/:file': {
    one: async ({ addEmoji }) => ({ realm_id: 1, file: `${(await addEmoji()).id}.png` }),
  },
};
