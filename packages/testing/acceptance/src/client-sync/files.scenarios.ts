import { MULTIPART, multipart } from '../testing/multipart.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

const TEXT_FILE = multipart([{ name: 'a.txt', content: 'hello' }]);

const TUS = { 'Tus-Resumable': '1.0.0' };
const BEGINNING = { body: '', headers: { ...TUS, 'Upload-Length': '0' } };

let begunPath = '';

async function beginUpload({ server, people }: World): Promise<void> {
  const headers = { ...TUS, 'Upload-Length': '5' };
  const { headers: answered } = await server.request('POST', '/tus/', { as: people.hamlet, body: '', headers });
  begunPath = decodeURIComponent(String(answered.location).split('/tus/')[1]!);
}

export const FILES_SCENARIOS: Scenarios = {
  'POST /user_uploads': [{ title: 'a file', as: 'hamlet', body: TEXT_FILE, heard: ['attachment/add'] }],
  'POST /tus': [{ title: 'an empty file', as: 'hamlet', ...BEGINNING, status: 201, heard: ['attachment/add'] }],
  'POST /tus/': [{ title: 'an empty file', as: 'hamlet', ...BEGINNING, status: 201, heard: ['attachment/add'] }],
  'PATCH /tus/*path_id': [
    {
      title: 'the rest of a file',
      as: 'hamlet',
      prepare: beginUpload,
      at: () => ({ path_id: begunPath }),
      body: 'hello',
      headers: { ...TUS, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' },
      status: 200,
      heard: ['attachment/add'],
    },
  ],
  'DELETE /tus/*path_id': [
    {
      title: 'an unfinished one',
      as: 'hamlet',
      prepare: beginUpload,
      at: () => ({ path_id: begunPath }),
      body: '',
      headers: TUS,
      status: 204,
      heard: [],
    },
  ],
  'DELETE /attachments/:attachment_id': [
    {
      title: 'a file',
      as: 'hamlet',
      prepare: uploadFile,
      at: () => ({ attachment_id: 1 }),
      heard: ['attachment/remove'],
    },
  ],
};

function uploadFile({ server, people }: World): Promise<unknown> {
  return server.request('POST', '/user_uploads', { as: people.hamlet, body: TEXT_FILE, headers: MULTIPART });
}
