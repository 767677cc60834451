import { imageFile, MULTIPART, multipart } from '../testing/multipart.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

const ICON = multipart([imageFile()]);
const LOGO = multipart([imageFile()], { night: 'true' });
const CHANGED = ['realm/update_dict'];
const posted =
  (path: string, body: Buffer) =>
  ({ server, people }: World): Promise<unknown> =>
    server.request('POST', path, { as: people.iago, body, headers: MULTIPART });

export const BRANDING_SCENARIOS: Scenarios = {
  'POST /realm/icon': [{ title: 'a picture', as: 'iago', body: ICON, heard: CHANGED }],
  'DELETE /realm/icon': [
    { title: 'an uploaded icon', as: 'iago', prepare: posted('/realm/icon', ICON), heard: CHANGED },
  ],
  'POST /realm/logo': [{ title: 'for the night', as: 'iago', body: LOGO, heard: CHANGED }],
  'DELETE /realm/logo': [
    {
      title: 'the logo of the dark theme',
      as: 'iago',
      prepare: posted('/realm/logo', LOGO),
      params: { night: true },
      heard: CHANGED,
    },
  ],
};
