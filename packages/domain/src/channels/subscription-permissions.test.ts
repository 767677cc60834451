import {
  channelGranting,
  formatDecision,
  inTeam,
  makeActor,
  makeChannel,
  makeRealm,
  PRIVACY_BY_KIND,
  systemGroup,
  TEAM,
  tableRows,
} from '@parley/testkit';
import type { Role } from '../access/roles.js';
import { canAddSubscribers, canRemoveSubscribers, canSubscribeSelf, canUnsubscribe } from './channel-permissions.js';

const INSUFFICIENT = 'NOT_PERMITTED: Insufficient permission';
const NO_GUESTS = 'MUST_NOT_BE_GUEST: Not allowed for guest users';

describe('canSubscribeSelf', () => {
  const noAccess = 'CHANNEL_CONTENT_ACCESS_REQUIRED: Unable to access channel (denmark).';
  it.each(
    tableRows(`
      who                                | web-public | public    | private, shared history | private, protected history
      owner                              | yes        | yes       | no access               | no access
      member                             | yes        | yes       | no access               | no access
      member granted canSubscribe        | yes        | yes       | yes                     | yes
      member granted canAddSubscribers   | yes        | yes       | yes                     | yes
      member granted canAdministerChannel| yes        | yes       | no access               | no access
      guest                              | no guests  | no guests | no guests               | no guests
      guest granted canSubscribe         | no guests  | no guests | no guests               | no guests
    `),
  )('decides if %s may subscribe in a %s channel: %s', (who, kind, expected) => {
    const [role, , permission] = who.split(' ');
    const permissionOverrides = permission === undefined ? {} : { [permission]: TEAM };
    const channel = makeChannel({ privacy: PRIVACY_BY_KIND[kind]!, permissionOverrides });
    const said = { yes: 'yes', 'no access': noAccess, 'no guests': NO_GUESTS }[expected];
    expect(formatDecision(canSubscribeSelf(inTeam(role as Role), channel, false))).toBe(said);
  });
});

describe('canAddSubscribers', () => {
  const noAccess = 'CHANNEL_CONTENT_ACCESS_REQUIRED: Unable to access channel (denmark).';
  it.each(
    tableRows(`
      who                                         | public       | private, inside | private, outside
      owner                                       | yes          | yes             | no access
      administrator                               | yes          | yes             | no access
      moderator                                   | insufficient | insufficient    | no access
      member                                      | insufficient | insufficient    | no access
      member granted canAdministerChannel         | yes          | yes             | no access
      member granted canAddSubscribers            | yes          | yes             | yes
      member granted canSubscribe                 | insufficient | insufficient    | insufficient
      member whom the organization lets           | yes          | yes             | no access
      guest granted canAddSubscribers             | no guests    | no guests       | no guests
      guest whom the organization lets            | no guests    | no guests       | no guests
    `),
  )('decides if %s may add subscribers to a %s channel: %s', (who, where, expected) => {
    const [role, verb, permission] = who.split(' ');
    const realm = makeRealm({
      permissionOverrides: { canAddSubscribers: verb === 'whom' ? TEAM : systemGroup.nobody },
    });
    const channel = makeChannel({
      privacy: where === 'public' ? 'public' : 'privateSharedHistory',
      permissionOverrides: verb === 'granted' ? { [permission!]: TEAM } : {},
    });
    const said = { yes: 'yes', 'no access': noAccess, 'no guests': NO_GUESTS, insufficient: INSUFFICIENT }[expected];
    expect(formatDecision(canAddSubscribers(inTeam(role as Role), realm, channel, where === 'private, inside'))).toBe(
      said,
    );
  });

  it('allows members to add subscribers by default', () => {
    expect(formatDecision(canAddSubscribers(makeActor('member'), makeRealm(), makeChannel(), false))).toBe('yes');
  });
});

describe('canRemoveSubscribers', () => {
  it.each(
    tableRows(`
      who                                 | public | private, inside | private, outside
      owner                               | yes    | yes             | yes
      administrator                       | yes    | yes             | yes
      moderator                           | no     | no              | no
      member                              | no     | no              | no
      member granted canAdministerChannel | yes    | yes             | yes
      member granted canRemoveSubscribers | yes    | yes             | no
      guest granted canAdministerChannel  | no     | no              | no
      guest granted canRemoveSubscribers  | no     | no              | no
    `),
  )('decides if %s may remove subscribers from a %s channel: %s', (who, where, expected) => {
    const [role, , permission] = who.split(' ');
    const channel = makeChannel({
      privacy: where === 'public' ? 'public' : 'privateSharedHistory',
      permissionOverrides: permission === undefined ? {} : { [permission]: TEAM },
    });
    const removal = { channel, isSubscribed: where === 'private, inside' };
    const said = expected === 'yes' ? 'yes' : INSUFFICIENT;
    expect(formatDecision(canRemoveSubscribers(inTeam(role as Role), [removal]))).toBe(said);
  });

  it('allows administrators to remove users from channels that they cannot read', () => {
    const permissionOverrides = { canAdministerChannel: TEAM, canRemoveSubscribers: TEAM };
    const channel = makeChannel({ privacy: 'privateProtectedHistory', permissionOverrides });
    const removals = [{ channel, isSubscribed: false }];
    expect(formatDecision(canRemoveSubscribers(makeActor('administrator'), removals))).toBe('yes');
    expect(formatDecision(canRemoveSubscribers(makeActor('moderator'), removals))).toBe(INSUFFICIENT);
  });

  it('requires the permission in every named channel', () => {
    const administered = { channel: channelGranting('canAdministerChannel'), isSubscribed: false };
    const removable = { channel: channelGranting('canRemoveSubscribers'), isSubscribed: false };
    const removableUnseen = {
      channel: channelGranting('canRemoveSubscribers', 'privateSharedHistory'),
      isSubscribed: false,
    };
    const neither = { channel: makeChannel(), isSubscribed: true };
    const member = inTeam('member');
    expect(formatDecision(canRemoveSubscribers(member, [administered, administered]))).toBe('yes');
    expect(formatDecision(canRemoveSubscribers(member, [removable, removable]))).toBe('yes');
    expect(formatDecision(canRemoveSubscribers(member, [administered, neither]))).toBe(INSUFFICIENT);
    expect(formatDecision(canRemoveSubscribers(member, [neither, removable]))).toBe(INSUFFICIENT);
    expect(formatDecision(canRemoveSubscribers(member, [removable, removableUnseen]))).toBe(INSUFFICIENT);
    // Administering one channel and holding the permission in the other does not satisfy either rule for both channels.
    expect(formatDecision(canRemoveSubscribers(member, [administered, removable]))).toBe(INSUFFICIENT);
  });

  it('allows users to remove themselves and their bots from any channel', () => {
    const elsewhere = [{ channel: makeChannel({ privacy: 'privateSharedHistory' }), isSubscribed: false }];
    const guest = makeActor('guest', { id: 10 });
    const somebody = (id: number, botOwnerId: number | null) =>
      ({ id, botOwnerId }) as Parameters<typeof canUnsubscribe>[1];
    expect(formatDecision(canUnsubscribe(guest, somebody(10, null), elsewhere))).toBe('yes');
    expect(formatDecision(canUnsubscribe(guest, somebody(11, 10), elsewhere))).toBe('yes');
    expect(formatDecision(canUnsubscribe(guest, somebody(11, 12), elsewhere))).toBe(INSUFFICIENT);
    expect(formatDecision(canUnsubscribe(guest, somebody(11, null), elsewhere))).toBe(INSUFFICIENT);
    expect(formatDecision(canUnsubscribe(makeActor('owner'), somebody(11, null), elsewhere))).toBe('yes');
  });
});
