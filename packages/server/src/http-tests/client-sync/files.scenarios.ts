import { MULTIPART, multipart } from '../../testing/multipart.js';
import type { WireWorld as World } from '../../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

const TEXT_FILE = multipart([{ name: 'a.txt', content: 'hello' }]);

export const FILES_SCENARIOS: Scenarios = {
  'POST /user_uploads': [{ title: 'a file', as: 'hamlet', body: TEXT_FILE, heard: ['attachment/add'] }],
  'DELETE /attachments/:attachment_id': [
    {
      title: 'a file',
      as: 'hamlet',
      given: uploadFile,
      at: () => ({ attachment_id: 1 }),
      heard: ['attachment/remove'],
    },
  ],
};

function uploadFile({ server, people }: World): Promise<unknown> {
  return server.request('POST', '/user_uploads', { as: people.hamlet, body: TEXT_FILE, headers: MULTIPART });
}
