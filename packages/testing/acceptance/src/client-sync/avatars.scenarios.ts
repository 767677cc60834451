import { imageFile, MULTIPART, multipart } from '../testing/multipart.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

const IMAGE = multipart([imageFile()]);
const CHANGED = ['realm_user/update'];

export const AVATARS_SCENARIOS: Scenarios = {
  'POST /users/me/avatar': [{ title: 'a picture', as: 'hamlet', body: IMAGE, heard: CHANGED }],
  'DELETE /users/me/avatar': [
    {
      title: 'an uploaded avatar',
      as: 'hamlet',
      prepare: ({ server, people }: World) =>
        server.request('POST', '/users/me/avatar', { as: people.hamlet, body: IMAGE, headers: MULTIPART }),
      heard: CHANGED,
    },
  ],
};
