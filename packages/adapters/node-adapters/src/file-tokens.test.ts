import type { FileTicket } from '@parley/domain/files';
import type { VisitorTicket } from '@parley/domain/membership';
import { HmacFileTokens, HmacVisitorTokens } from './tokens.js';

const tokens = new HmacFileTokens('a secret of tests');
const TICKET = { realmId: 2, fileId: 31, expiresAt: 1_700_000_000 } as FileTicket;

it('HmacFileTokens accepts only its own tokens', () => {
  const token = tokens.sign(TICKET);
  expect(token).toMatch(/^[\w-]+$/);
  expect(tokens.verify(token)).toEqual(TICKET);
});

it.each([
  ['nothing', () => ''],
  ['another file', () => tokens.sign(TICKET).replace('-31-', '-32-')],
  ['a later end', () => tokens.sign(TICKET).replace('-1700', '-1800')],
  ['another secret', () => new HmacFileTokens('another secret').sign(TICKET)],
  ['no signature', () => '2-31-1700000000-'],
  ['text after the end', () => `${tokens.sign(TICKET)}x`],
])('HmacFileTokens rejects %s', (_, made) => expect(tokens.verify(made())).toBeNull());

it('HmacVisitorTokens accepts only its own tokens', () => {
  const visitors = new HmacVisitorTokens('a secret of tests');
  const ticket = { realmId: 2, userId: 31, expiresAt: 1_700_000_000 } as VisitorTicket;
  expect(visitors.verify(visitors.sign(ticket))).toEqual(ticket);
  expect(visitors.verify(tokens.sign(TICKET))).toBeNull();
});
