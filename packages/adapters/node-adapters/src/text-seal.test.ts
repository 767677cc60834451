import { randomBytes } from 'node:crypto';
import { TextSeal } from './text-seal.js';

const seal = new TextSeal(Buffer.alloc(32, 1));

it('TextSeal opens a sealed text only in its context and with the same key', () => {
  const sealed = seal.seal('{"a":"ä"}', 'realm 1');
  expect(seal.open(sealed, 'realm 1')).toBe('{"a":"ä"}');
  expect(seal.open(sealed, 'realm 2')).toBeNull();
  expect(new TextSeal(Buffer.alloc(32, 2)).open(sealed, 'realm 1')).toBeNull();
  expect(seal.seal('{"a":"ä"}', 'realm 1')).not.toBe(sealed);
});

it.each<[string, (sealed: string) => string]>([
  ['a shorter text', (sealed) => sealed.slice(0, -4)],
  ['a longer text', (sealed) => `${sealed}AAAA`],
  ['padding', (sealed) => `${sealed}=`],
  ['a changed letter', (sealed) => (sealed.startsWith('A') ? 'B' : 'A') + sealed.slice(1)],
  ['an empty text', () => ''],
  ['random bytes', () => randomBytes(60).toString('base64url')],
])('TextSeal rejects %s', (_, changed) => {
  expect(seal.open(changed(seal.seal('text', 'c')), 'c')).toBeNull();
});

it('TextSeal rejects another encoding of the same bytes', () => {
  // 28 bytes of overhead and three of text: 31 bytes leave four unused bits in the last character.
  const sealed = seal.seal('abc', 'c');
  expect(sealed).toHaveLength(42);
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const other = sealed.slice(0, -1) + letters[letters.indexOf(sealed.at(-1)!) + 1];
  expect(Buffer.from(other, 'base64url')).toEqual(Buffer.from(sealed, 'base64url'));
  expect(seal.open(other, 'c')).toBeNull();
});
