import { MAX_FILE_TEXT } from '@parley/domain/files';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { FileTexts } from './file-texts.js';

const texts = new FileTexts();
const realmId = 2 as RealmId;
const ownerId = 1 as UserId;
const read = (bytes: Uint8Array, contentType = 'text/plain') => texts.read(bytes, { contentType, realmId, ownerId });

it.each([
  ['text/plain', true],
  ['text/markdown', true],
  ['text/x-python', true],
  ['text/html', false],
  ['application/octet-stream', false],
  ['image/png', false],
  ['application/vnd.oasis.opendocument.text', false],
])('reads texts of type %s: %s', async (contentType, isRead) => {
  expect(texts.reads(contentType)).toBe(isRead);
  expect(await read(Buffer.from('tea'), contentType)).toBe(isRead ? 'tea' : null);
});

it.each([
  ['UTF-8', Buffer.from('café')],
  ['UTF-8 with a byte order mark', Buffer.from('\ufeffcafé')],
  ['UTF-16, little endian', Buffer.from('\ufeffcafé', 'utf16le')],
  ['UTF-16, big endian', Buffer.from('\ufeffcafé', 'utf16le').swap16()],
  ['UTF-16 without a byte order mark', Buffer.from('café', 'utf16le')],
  ['UTF-16, big endian, without a byte order mark', Buffer.from('café', 'utf16le').swap16()],
  ['Latin-1', Buffer.from('café', 'latin1')],
])('decodes %s', async (_, bytes) => {
  expect(await read(bytes)).toBe('café');
});

it('passes documents to their reader', async () => {
  const reader = new FileTexts({ readDocument: async (document, type) => `${document.length} of ${type}` });
  const contentType = 'application/vnd.oasis.opendocument.text';
  expect(reader.reads(contentType)).toBe(true);
  expect(await reader.read(Buffer.from('tea'), { contentType, realmId, ownerId })).toBe(`3 of ${contentType}`);
});

it('returns the beginning of long texts, even with a cut last character', async () => {
  expect(await read(Buffer.alloc(5 * MAX_FILE_TEXT, 'é'))).toBe('é'.repeat(MAX_FILE_TEXT));
  const cut = Buffer.concat([Buffer.alloc(4 * MAX_FILE_TEXT - 1, 'a'), Buffer.from('é')]);
  expect(await read(cut)).toBe('a'.repeat(MAX_FILE_TEXT));
});
