import type { UserId } from '../kernel/ids.js';
import type { User } from '../users/user.js';
import { erasedEmail, eventWithoutIdentity, isErased, mentionRemoval } from './erased-person.js';

const id = 12 as UserId;
const former = { id, fullName: 'Ann (Ops)', email: 'ann@example.com', externalId: 'x-1' };
const now = {
  ...{ id, fullName: 'Deleted user', email: erasedEmail(id), isDeleted: true, version: 9 },
  avatar: { source: 'generated', version: 2 },
} as User;

describe('removal of mentions', () => {
  const { hints, replace } = mentionRemoval(former);
  const html = (name: string, of = 12, mark = '') =>
    `<p><span class="user-mention${mark}" data-user-id="${of}">${name}</span></p>`;

  it.each([
    ['an unqualified mention', 'hi @**Ann (Ops)**!', 'hi @**Deleted user|12**!'],
    ['a silent mention', '@_**Ann (Ops)** said', '@_**Deleted user|12** said'],
    ['a mention with the id', '@**Ann (Ops)|12**', '@**Deleted user|12**'],
    ['a mention by a former name with the id', '@**Ann Old|12**', '@**Deleted user|12**'],
    ['a rendered mention', html('@Ann (Ops)'), html('@Deleted user')],
    ['a silent rendered mention', html('Ann Old', 12, ' silent'), html('Deleted user', 12, ' silent')],
    ['a rendered mention in JSON', JSON.stringify([html('@Ann Old')]), JSON.stringify([html('@Deleted user')])],
  ])('replaces %s, which contains a hint', (_, text, changed) => {
    expect(replace([text])).toEqual([changed]);
    expect(hints.some((hint) => text.includes(hint))).toBe(true);
  });

  it.each([
    ['@<strong>Ann (Ops)</strong>', '@<strong>Deleted user|12</strong>'],
    ['@_<strong>Ann Old|12</strong>', '@_<strong>Deleted user|12</strong>'],
    ['<strong>Ann (Ops)</strong>', '<strong>Ann (Ops)</strong>'],
  ])('replaces a mention that was rendered in bold because the person was renamed: %s', (text, changed) => {
    expect(replace([text])).toEqual([changed]);
  });

  it.each([
    ['mentions of others', `@**Bob|13** @**Ann|123** ${html('@Ann (Ops)', 13)}`],
    ['the name in a text', 'Ann (Ops) is away **Ann (Ops)**'],
  ])('keeps %s', (_, text) => {
    expect(replace([text, null])).toEqual([text, null]);
  });

  it('keeps mentions of deleted users without an id, because they may be others', () => {
    const { replace: replaceAgain } = mentionRemoval({ id, fullName: 'Deleted user' });
    const row = ['@**Deleted user** and @**Deleted user|12**', html('@Deleted user')];
    expect(replaceAgain(row)).toEqual(row);
  });

  it('keeps unqualified mentions of another person with the same name, as the rendered text of the row shows', () => {
    const row = ['@**Ann (Ops)**', html('@Ann (Ops)', 13)];
    expect(replace(row)).toEqual(row);
  });

  it('replaces unqualified mentions by the name that the rendered text of the row shows', () => {
    const row = ['@**Ann O&#39;Hara** @**Bob**', html('@Ann O&#39;Hara')];
    expect(replace(["@**Ann O'Hara** @**Bob**", row[1]!])).toEqual([
      '@**Deleted user|12** @**Bob**',
      html('@Deleted user'),
    ]);
  });
});

describe('an event without the identity', () => {
  const everyone = { kind: 'realm' };
  const without = (event: Readonly<Record<string, unknown>>, audience: Readonly<Record<string, unknown>> = everyone) =>
    eventWithoutIdentity(event, audience, former, now);

  it('contains the present user instead of the former one, whatever the name was then', () => {
    const user = { id, fullName: 'Ann Old', email: 'old@example.com', externalId: 'x-1', version: 1 };
    expect(without({ type: 'user.created', user })).toEqual({
      type: 'user.created',
      user: { id, fullName: 'Deleted user', email: 'user12@erased.invalid', version: 9 },
    });
  });

  it('contains the present name instead of former names', () => {
    expect(without({ type: 'user.name_changed', userId: id, fullName: 'Ann Old' })).toEqual({
      type: 'user.name_changed',
      userId: id,
      fullName: 'Deleted user',
    });
  });

  it('keeps the removal of the external id', () => {
    const removal = { type: 'user.external_id_assigned', userId: id, externalId: null };
    expect(without(removal)).toEqual(removal);
  });

  it.each([
    ['for the person alone', { type: 'draft.removed', id: 1 }, { kind: 'users', ids: [id] }],
    ['that assigned the external id', { type: 'user.external_id_assigned', userId: id, externalId: 'x' }, everyone],
    ['about their status', { type: 'user.status_changed', userId: id, change: {} }, everyone],
  ])('is nothing for an event %s', (_, event, audience) => {
    expect(without(event, audience)).toBeNull();
  });

  it.each([
    ['other people', { type: 'user.created', user: { id: 13, fullName: 'Bob', email: 'bob@example.com' } }, everyone],
    ['a namesake', { type: 'user.created', user: { id: 13, fullName: 'Ann (Ops)', email: 'b@example.com' } }, everyone],
    ['the new name of a namesake', { type: 'user.name_changed', userId: 13, fullName: 'Ann (Ops)' }, everyone],
    ['the status of others', { type: 'user.status_changed', userId: 13, change: { text: 'away' } }, everyone],
    ['reactions of the person', { type: 'reaction.added', userId: id, name: '+1' }, everyone],
    ['conversations with others', { type: 'message.read' }, { kind: 'users', ids: [id, 13] }],
  ])('is unchanged for %s', (_, event, audience) => {
    expect(without(event, audience)).toEqual(event);
  });
});

it('identifies erased users by their address', () => {
  expect(isErased(now)).toBe(true);
  expect(isErased({ ...now, email: 'ann@example.com' })).toBe(false);
  expect(isErased({ ...now, isDeleted: false })).toBe(false);
});
