import { isOpen, MAX_INVITEES, MAX_OPEN_INVITATIONS, parseInvitees, requireRoomForInvitations } from './invitations.js';

it.each([
  [MAX_OPEN_INVITATIONS - 1, 1, true],
  [MAX_OPEN_INVITATIONS, 1, false],
  [MAX_OPEN_INVITATIONS - 1, 2, false],
])('with %i open invitations, allows %i more: %s', (open, more, isTaken) => {
  const check = () => requireRoomForInvitations(open, more);
  if (isTaken) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code: 'TOO_MANY_INVITATIONS' }));
});

it.each([
  ['a@example.com,b@example.com\r\nc@example.com', ['a@example.com', 'b@example.com', 'c@example.com']],
  ['Ann <a@example.com>, <b@example.com>', ['a@example.com', 'b@example.com']],
  ['A@example.com, a@example.com', ['A@example.com']],
  ['>a@example.com<, <>', ['>a@example.com<']],
])('parses the addresses of %j as %j', (text, addresses) => {
  expect(parseInvitees(text)).toEqual(addresses);
});

it('rejects a list with no addresses or more than the maximum', () => {
  const addresses = (count: number) => Array.from({ length: count }, (_, n) => `${n}@example.com`).join(',');
  for (const text of ['', ' , \n', '<>']) {
    expect(() => parseInvitees(text)).toThrow(expect.objectContaining({ code: 'INVITEES_REQUIRED' }));
  }
  expect(parseInvitees(addresses(MAX_INVITEES))).toHaveLength(MAX_INVITEES);
  expect(() => parseInvitees(addresses(MAX_INVITEES + 1))).toThrow(
    expect.objectContaining({ code: 'TOO_MANY_INVITEES' }),
  );
});

it.each`
  status       | expiresAt | open
  ${'open'}    | ${null}   | ${true}
  ${'open'}    | ${101}    | ${true}
  ${'open'}    | ${100}    | ${false}
  ${'used'}    | ${null}   | ${false}
  ${'revoked'} | ${101}    | ${false}
`(
  'treats an invitation with status $status and expiry $expiresAt as open at 100: $open',
  ({ status, expiresAt, open }) => {
    expect(isOpen({ status, expiresAt }, 100)).toBe(open);
  },
);
