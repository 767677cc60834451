import type { Destination } from '@parley/chat';
import { ParleyError } from '@parley/client';
import { linkTo, MAX_FILES, type SendOptions, Uploads } from './uploads.js';

const HERE: Destination = { kind: 'channel', channelId: 1, topic: 'files' };
const ELSEWHERE: Destination = { kind: 'channel', channelId: 1, topic: 'other' };
const fileOf = (name: string, content = 'x') => new File([content], name);
/** Lets the promises of sent files settle. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

interface Sent {
  readonly name: string;
  readonly options: SendOptions;
  readonly finish: (url: string) => void;
  readonly fail: (error: Error) => void;
}

function uploadsWith(maxMebibytes = 1) {
  const sent: Sent[] = [];
  const send = (file: File, options: SendOptions) =>
    new Promise<string>((finish, fail) => sent.push({ name: file.name, options, finish, fail }));
  return { sent, uploads: new Uploads(send, () => maxMebibytes) };
}

it('sends two files concurrently and the others afterwards', async () => {
  const { sent, uploads } = uploadsWith();
  uploads.add(HERE, [fileOf('a'), fileOf('b'), fileOf('c')]);
  expect(sent.map(({ name }) => name)).toEqual(['a', 'b']);
  sent[0]!.options.onProgress!(1, 4);
  expect(uploads.of(HERE).value.rows.map(({ state, progress }) => [state, progress])).toEqual([
    ['sending', 0.25],
    ['sending', 0],
    ['waiting', 0],
  ]);
  sent[0]!.finish('/user_uploads/1/a');
  await settled();
  expect(sent.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});

it('shows an interrupted file until it continues', () => {
  const { sent, uploads } = uploadsWith();
  uploads.add(HERE, [fileOf('a'), fileOf('b'), fileOf('c')]);
  sent[0]!.options.onInterrupted!();
  expect(uploads.of(HERE).value.rows.map(({ state }) => state)).toEqual(['interrupted', 'sending', 'waiting']);
  sent[0]!.options.onProgress!(3, 4);
  expect(uploads.of(HERE).value.rows[0]).toMatchObject({ state: 'sending', progress: 0.75 });
});

it('returns files in the order in which they were chosen', async () => {
  const { sent, uploads } = uploadsWith();
  uploads.add(HERE, [fileOf('a'), fileOf('b'), fileOf('c'), fileOf('d')]);
  sent[1]!.finish('/b');
  await settled();
  sent[2]!.finish('/c');
  await settled();
  expect(uploads.take(HERE)).toEqual([]);
  expect(sent.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
  sent[0]!.fail(new ParleyError('Too large', 'TOO_LARGE', 413));
  await settled();
  expect(uploads.take(HERE)).toEqual([
    { name: 'b', url: '/b' },
    { name: 'c', url: '/c' },
  ]);
  sent[3]!.finish('/d');
  await settled();
  expect(uploads.take(HERE)).toEqual([{ name: 'd', url: '/d' }]);
});

it('returns later files when a pending file is cancelled', async () => {
  const { sent, uploads } = uploadsWith();
  uploads.add(HERE, [fileOf('a'), fileOf('b')]);
  sent[1]!.finish('/b');
  await settled();
  uploads.remove(HERE, uploads.of(HERE).value.rows[0]!.id);
  expect(uploads.take(HERE)).toEqual([{ name: 'b', url: '/b' }]);
});

it('keeps files for the text field of their conversation and returns them once', async () => {
  const { sent, uploads } = uploadsWith();
  uploads.add(HERE, [fileOf('a')]);
  sent[0]!.finish('/user_uploads/1/a');
  await settled();
  expect(uploads.of(HERE).value.rows).toEqual([]);
  expect(uploads.take(ELSEWHERE)).toEqual([]);
  expect(uploads.isBusy()).toBe(true);
  expect(uploads.take(HERE)).toEqual([{ name: 'a', url: '/user_uploads/1/a' }]);
  expect(uploads.take(HERE)).toEqual([]);
  expect(uploads.isBusy()).toBe(false);
});

it('remembers the content of the last hundred uploaded files', async () => {
  const { sent, uploads } = uploadsWith();
  const contents = Array.from({ length: 101 }, (_, at) => fileOf(String(at)));
  for (const [at, file] of contents.entries()) {
    uploads.add(HERE, [file]);
    sent[at]!.finish(`/${at}`);
    await settled();
  }
  expect(uploads.contentOf('/0')).toBeNull();
  expect(uploads.contentOf('/1')).toBe(contents[1]);
  expect(uploads.contentOf('/100')).toBe(contents[100]);
});

it('keeps a rejected file with the reason and resends it on request', async () => {
  const { sent, uploads } = uploadsWith();
  uploads.add(HERE, [fileOf('a')]);
  sent[0]!.fail(new ParleyError('Upload would exceed your quota.', 'REALM_UPLOAD_QUOTA', 400));
  await settled();
  const [row] = uploads.of(HERE).value.rows;
  expect(row).toMatchObject({ state: 'failed', failure: { message: 'Upload would exceed your quota.' } });
  expect(uploads.canRetry(row!.id)).toBe(true);
  uploads.retry(HERE, row!.id);
  expect(sent).toHaveLength(2);
  expect(uploads.of(HERE).value.rows[0]).toMatchObject({ state: 'sending', failure: null });
});

it('rejects empty files, files above the size limit and files above the maximum number', () => {
  const { sent, uploads } = uploadsWith(0.000001);
  uploads.add(HERE, [fileOf('empty', ''), fileOf('large', 'much more'), ...Array(30).fill(fileOf('a'))]);
  const { rows } = uploads.of(HERE).value;
  expect(rows).toHaveLength(MAX_FILES + 1);
  expect(rows.slice(0, 2).map(({ failure }) => failure)).toEqual(['empty', 'too-large']);
  expect(rows.at(-1)!.failure).toBe('too-many');
  expect(uploads.canRetry(rows[0]!.id)).toBe(false);
  expect(sent).toHaveLength(2);
});

it('stops the upload of a removed file and does not return it', async () => {
  const { sent, uploads } = uploadsWith();
  uploads.add(HERE, [fileOf('a'), fileOf('b'), fileOf('c')]);
  uploads.remove(HERE, uploads.of(HERE).value.rows[0]!.id);
  expect(sent[0]!.options.signal!.aborted).toBe(true);
  sent[0]!.finish('/user_uploads/1/a');
  await settled();
  expect(uploads.of(HERE).value.rows.map(({ name }) => name)).toEqual(['b', 'c']);
  expect(uploads.take(HERE)).toEqual([]);
  expect(sent).toHaveLength(3);
});

it('escapes names that would end their link early', () => {
  expect(linkTo('a [draft].txt', '/user_uploads/1/a.txt')).toBe('[a (draft).txt](/user_uploads/1/a.txt)');
});
