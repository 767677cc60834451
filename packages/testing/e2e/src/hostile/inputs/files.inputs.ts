import { Bytes, FormFile, Header } from '../encode.js';
import { type Inputs, MANY_PIXELS } from '../input-context.js';
import type { Fields } from '../routes.js';

const TUS: Fields = { 'Tus-Resumable': new Header('1.0.0') };

const partAt = (offset: number): Fields => ({ ...TUS, 'Upload-Offset': new Header(String(offset)) });

const LARGE_FILE = Buffer.alloc(20 * 1024 * 1024);
/** First request of a resumable upload. */
const startOf = (size: number, name = 'a.txt'): Fields => ({
  ...TUS,
  'Upload-Length': new Header(String(size)),
  'Upload-Metadata': new Header(`filename ${Buffer.from(name).toString('base64')}`),
});

export const INPUTS: Inputs = {
  'POST /user_uploads': {
    'a large file': () => ({ file: new FormFile('x'.repeat(255), LARGE_FILE) }),
  },
  'GET /user_uploads/:realm_id/*filename': {
    'a file': async ({ upload }) => {
      const [realm_id, ...rest] = (await upload()).path.split('/');
      return { realm_id, filename: rest.join('/') };
    },
  },
  'GET /user_uploads/temporary/:token/:name': {
    'a file': async ({ upload, get }) => {
      const { path } = await upload();
      const [token, name] = String((await get(`/user_uploads/${path}`)).url)
        .split('/')
        .slice(-2);
      return { token, name };
    },
  },
  'GET /user_uploads/*path_id': { 'a file': async ({ upload }) => ({ path_id: (await upload()).path }) },
  'GET /user_uploads/download/*path_id': { 'a file': async ({ upload }) => ({ path_id: (await upload()).path }) },
  'GET /user_uploads/thumbnail/*path_id_and_format': {
    'of a large image': async ({ uploadImage }) => ({ path_id_and_format: await uploadImage(MANY_PIXELS) }),
  },
  'POST /tus': { 'a large file': () => ({ ...startOf(LARGE_FILE.length), body: new Bytes(LARGE_FILE) }) },
  'POST /tus/': {
    'a long name': () => startOf(1, 'x'.repeat(2900)),
    'a large file': () => ({ ...startOf(LARGE_FILE.length), body: new Bytes(LARGE_FILE) }),
  },
  'GET /tus/*path_id': { one: async ({ beginUpload }) => ({ ...TUS, path_id: await beginUpload(startOf(1)) }) },
  'PATCH /tus/*path_id': {
    'an empty part': async ({ beginUpload }) => ({
      ...partAt(0),
      path_id: await beginUpload(startOf(1)),
      body: new Bytes(Buffer.alloc(0)),
    }),
    'a large part': async ({ beginUpload }) => ({
      ...partAt(0),
      path_id: await beginUpload(startOf(LARGE_FILE.length + 1)),
      body: new Bytes(LARGE_FILE),
    }),
    'all of a large file': async ({ beginUpload }) => ({
      ...partAt(0),
      path_id: await beginUpload(startOf(LARGE_FILE.length)),
      body: new Bytes(LARGE_FILE),
    }),
  },
  'DELETE /tus/*path_id': { one: async ({ beginUpload }) => ({ ...TUS, path_id: await beginUpload(startOf(1)) }) },
  'DELETE /attachments/:attachment_id': { one: async ({ upload }) => ({ attachment_id: (await upload()).id }) },
};
