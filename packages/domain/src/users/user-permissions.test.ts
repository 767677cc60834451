import {
  aUser,
  createFixture,
  formatDecision,
  groupId,
  inTeam,
  makeActor,
  makeRealm,
  makeUser,
  systemGroup,
  TEAM,
  tableRows,
  userId,
} from '@parley/testkit';
import fc from 'fast-check';
import {
  insufficientUnless,
  mustBeAdministrator,
  mustBeBot,
  mustBeHuman,
  mustBeOwner,
  mustNotBeGuest,
} from '../access/actor.js';
import { ROLES, type Role } from '../access/roles.js';
import { USER_SETTINGS, type UserSettings } from '../realms/user-settings.js';
import { isLimitedGuest, mayAccessUser } from './accessible-users.js';
import type { Bot, User } from './user.js';
import {
  canAccessUser,
  canAdministerBot,
  canAdministerUser,
  canChangeEmail,
  canChangeOwnAvatar,
  canChangeOwnEmail,
  canChangeRole,
  canChangeSettingsOfOthers,
  canCreateBot,
  canCreateUsers,
  canDeactivateSelf,
  canDeactivateUser,
  canEndSessions,
  canOwnBots,
  canReactivateUser,
  canUpdateUsers,
  isBotNameTaken,
  isLastActive,
  isOnlyOwner,
  isOnlyOwnerOf,
  mayChangeOwnName,
} from './user-permissions.js';

const NO_USER = 'UNKNOWN_USER: No such user';
const DEACTIVATED = 'NAMED_USER_DEACTIVATED: User is deactivated';
const INSUFFICIENT = 'NOT_PERMITTED: Insufficient permission';
const OWNERS_ONLY = 'MUST_BE_OWNER: Must be an organization owner';
const ADMINISTRATORS_ONLY = 'MUST_BE_ADMINISTRATOR: Must be an organization administrator';
const NO_GUESTS = 'MUST_NOT_BE_GUEST: Not allowed for guest users';
const NO_BOTS = 'MUST_NOT_BE_BOT: This endpoint does not accept bot requests.';

const bot = (given: Partial<Bot> = {}): Bot => ({
  kind: 'generic',
  ownerId: userId(10),
  isSystem: false,
  defaultSendingChannelId: null,
  ...given,
});

describe('role rule', () => {
  it.each(
    tableRows(`
      requirement          | owner | administrator | moderator | member | guest
      mustBeOwner          | yes   | no            | no        | no     | no
      mustBeAdministrator  | yes   | yes           | no        | no     | no
      mustNotBeGuest       | yes   | yes           | yes       | yes    | no
    `),
  )('applies %s to %s: %s', (requirement, role, expected) => {
    const [rule, refusal] = {
      mustBeOwner: [mustBeOwner, OWNERS_ONLY] as const,
      mustBeAdministrator: [mustBeAdministrator, ADMINISTRATORS_ONLY] as const,
      mustNotBeGuest: [mustNotBeGuest, NO_GUESTS] as const,
    }[requirement]!;
    expect(formatDecision(rule(makeActor(role as Role)))).toBe(expected === 'yes' ? 'yes' : refusal);
  });

  it('requires humans or bots and denies the other kind', () => {
    expect(formatDecision(mustBeHuman(makeActor('guest')))).toBe('yes');
    expect(formatDecision(mustBeHuman(makeActor('owner', { isBot: true })))).toBe(NO_BOTS);
    expect(formatDecision(mustBeBot(makeActor('guest', { isBot: true })))).toBe('yes');
    expect(formatDecision(mustBeBot(makeActor('owner')))).toBe('MUST_BE_BOT: Must be a bot user');
    expect(formatDecision(insufficientUnless(true))).toBe('yes');
    expect(formatDecision(insufficientUnless(false))).toBe(INSUFFICIENT);
  });
});

describe('canAccessUser', () => {
  const open = makeRealm();
  const closed = makeRealm({ permissionOverrides: { canAccessAllUsers: systemGroup.members } });
  const otherRealmUser = makeUser();

  it.each(
    tableRows(`
      who           | everybody, where all are known | somebody inaccessible, where members are | somebody they have met | a bot | themselves
      owner         | yes                            | yes                           | yes                 | yes   | yes
      administrator | yes                            | yes                           | yes                 | yes   | yes
      moderator     | yes                            | yes                           | yes                 | yes   | yes
      member        | yes                            | yes                           | yes                 | yes   | yes
      guest         | yes                            | no                            | yes                 | yes   | yes
    `),
  )('decides if a %s can access %s: %s', (role, whom, expected) => {
    const actor = makeActor(role as Role, { id: 10 });
    const realm = whom.startsWith('everybody') ? open : closed;
    const user =
      whom === 'a bot'
        ? makeUser({ bot: bot() })
        : whom === 'themselves'
          ? makeUser({ id: userId(10) })
          : otherRealmUser;
    const access = { realm, sharesConversation: whom === 'somebody they have met', allowBots: true };
    expect(mayAccessUser(actor, user, access)).toBe(expected === 'yes');
    expect(formatDecision(canAccessUser(actor, user, access))).toBe(expected === 'yes' ? 'yes' : INSUFFICIENT);
  });

  it('limits only guests, and only if the realm restricts user access', () => {
    expect(ROLES.filter((role) => isLimitedGuest(makeActor(role), closed))).toEqual(['guest']);
    expect(ROLES.filter((role) => isLimitedGuest(makeActor(role), open))).toEqual([]);
  });

  it.each`
    target                                        | nothing        | deactivated | bots           | both
    ${null}                                       | ${NO_USER}     | ${NO_USER}  | ${NO_USER}     | ${NO_USER}
    ${makeUser()}                                 | ${'yes'}       | ${'yes'}    | ${'yes'}       | ${'yes'}
    ${makeUser({ isActive: false })}              | ${DEACTIVATED} | ${'yes'}    | ${DEACTIVATED} | ${'yes'}
    ${makeUser({ bot: bot() })}                   | ${NO_USER}     | ${NO_USER}  | ${'yes'}       | ${'yes'}
    ${makeUser({ bot: bot(), isActive: false })}  | ${NO_USER}     | ${NO_USER}  | ${DEACTIVATED} | ${'yes'}
    ${makeUser({ bot: bot({ isSystem: true }) })} | ${NO_USER}     | ${NO_USER}  | ${NO_USER}     | ${NO_USER}
  `('accepts active users, bots, both or neither as targets', (row) => {
    const kinds = {
      nothing: {},
      deactivated: { allowDeactivated: true },
      bots: { allowBots: true },
      both: { allowDeactivated: true, allowBots: true },
    };
    for (const [name, kind] of Object.entries(kinds)) {
      expect(
        formatDecision(
          canAccessUser(makeActor('member'), row.target, { realm: open, sharesConversation: false, ...kind }),
        ),
      ).toBe(row[name]);
      expect(formatDecision(canAdministerUser(makeActor('administrator'), row.target, kind))).toBe(row[name]);
    }
  });

  it('checks the target before the permission', () => {
    const access = { realm: closed, sharesConversation: false };
    const guest = makeActor('guest');
    expect(formatDecision(canAccessUser(guest, makeUser({ isActive: false }), access))).toBe(DEACTIVATED);
    expect(formatDecision(canAccessUser(guest, null, access))).toBe(NO_USER);
    expect(formatDecision(canAccessUser(guest, makeUser(), access))).toBe(INSUFFICIENT);
  });
});

describe('canAdministerUser and canChangeSettingsOfOthers', () => {
  it.each`
    who                | target                                             | expected
    ${'owner'}         | ${makeUser()}                                      | ${'yes'}
    ${'administrator'} | ${makeUser()}                                      | ${'yes'}
    ${'moderator'}     | ${makeUser()}                                      | ${INSUFFICIENT}
    ${'member'}        | ${makeUser({ bot: bot() })}                        | ${'yes'}
    ${'guest'}         | ${makeUser({ bot: bot() })}                        | ${'yes'}
    ${'member'}        | ${makeUser({ bot: bot({ ownerId: userId(11) }) })} | ${INSUFFICIENT}
    ${'member'}        | ${makeUser({ bot: bot({ ownerId: null }) })}       | ${INSUFFICIENT}
    ${'member'}        | ${makeUser({ id: userId(10) })}                    | ${INSUFFICIENT}
    ${'member'}        | ${null}                                            | ${NO_USER}
  `('decides if $who may administer the user with bot data $target.bot: $expected', ({ who, target, expected }) => {
    expect(formatDecision(canAdministerUser(makeActor(who, { id: 10 }), target, { allowBots: true }))).toBe(expected);
  });

  it.each`
    who                | granted  | expected
    ${'owner'}         | ${true}  | ${'yes'}
    ${'administrator'} | ${true}  | ${'yes'}
    ${'administrator'} | ${false} | ${'SPECIAL_PERMISSION_REQUIRED: User not authorized to create users'}
    ${'owner'}         | ${false} | ${'SPECIAL_PERMISSION_REQUIRED: User not authorized to create users'}
    ${'moderator'}     | ${true}  | ${ADMINISTRATORS_ONLY}
    ${'member'}        | ${false} | ${ADMINISTRATORS_ONLY}
  `(
    'decides if $who may create users if granted by the operator ($granted): $expected',
    ({ who, granted, expected }) => {
      expect(formatDecision(canCreateUsers(makeActor(who), granted))).toBe(expected);
    },
  );

  it.each`
    who                | granted  | expected
    ${'owner'}         | ${true}  | ${'yes'}
    ${'owner'}         | ${false} | ${'SPECIAL_PERMISSION_REQUIRED: User not authorized to change user emails'}
    ${'administrator'} | ${true}  | ${OWNERS_ONLY}
    ${'member'}        | ${false} | ${OWNERS_ONLY}
  `(
    'decides if $who may change email addresses of others if granted by the operator ($granted): $expected',
    ({ who, granted, expected }) => {
      expect(formatDecision(canChangeEmail(makeActor(who), granted))).toBe(expected);
    },
  );

  it('allows only administrators to update users', () => {
    expect(formatDecision(canUpdateUsers(makeActor('administrator')))).toBe('yes');
    expect(formatDecision(canUpdateUsers(makeActor('moderator')))).toBe(ADMINISTRATORS_ONLY);
  });

  const PRIVATE = 'SETTING_NOT_FOR_OTHERS: Cannot change this setting for other users.';
  const NOBODY_NAMED = 'NO_TARGET_USERS: Neither users nor groups are named.';

  it.each`
    who                | named    | settings                             | account  | expected
    ${'owner'}         | ${true}  | ${['enterSends']}                    | ${false} | ${'yes'}
    ${'administrator'} | ${true}  | ${['enterSends', 'colorScheme']}     | ${false} | ${'yes'}
    ${'administrator'} | ${true}  | ${[]}                                | ${false} | ${'yes'}
    ${'moderator'}     | ${true}  | ${['enterSends']}                    | ${false} | ${ADMINISTRATORS_ONLY}
    ${'administrator'} | ${true}  | ${['enterSends', 'presenceEnabled']} | ${false} | ${PRIVATE}
    ${'owner'}         | ${true}  | ${[]}                                | ${true}  | ${PRIVATE}
    ${'moderator'}     | ${true}  | ${['presenceEnabled']}               | ${true}  | ${ADMINISTRATORS_ONLY}
    ${'moderator'}     | ${false} | ${['presenceEnabled']}               | ${true}  | ${NOBODY_NAMED}
  `(
    'decides if $who may set $settings for others (users §6.3): $expected',
    ({ who, named, settings, account, expected }) => {
      const request = { namesSomebody: named, settings, changesAccount: account };
      expect(formatDecision(canChangeSettingsOfOthers(makeActor(who), request))).toBe(expected);
    },
  );

  it('denies changing personal settings of others (users §6.3 row 3)', () => {
    const all = Object.keys(USER_SETTINGS) as (keyof UserSettings)[];
    const others = (name: keyof UserSettings) =>
      canChangeSettingsOfOthers(makeActor('owner'), { namesSomebody: true, settings: [name], changesAccount: false });
    expect(all.filter((name) => !others(name).allowed)).toEqual([
      'allowPrivateDataExport',
      'emailAddressVisibility',
      'enableDigestEmails',
      'enableLoginEmails',
      'enableMarketingEmails',
      'presenceEnabled',
      'sendPrivateTypingNotifications',
      'sendReadReceipts',
      'sendChannelTypingNotifications',
      'timezone',
    ]);
  });
});

describe('canChangeRole', () => {
  const noAdmins = 'GUEST_CANNOT_ADMINISTER: Guests cannot be organization administrators';

  it.each(
    tableRows(`
      an administrator makes | owner       | administrator | moderator   | member      | guest
      owner                  | nothing     | owners only   | owners only | owners only | owners only
      administrator          | owners only | nothing       | yes         | yes         | yes
      moderator              | owners only | yes           | nothing     | yes         | yes
      member                 | owners only | yes           | yes         | nothing     | yes
      guest                  | owners only | no admins     | yes         | yes         | nothing
    `),
  )('decides if an administrator may change a %s to a %s: %s', (from, to, expected) => {
    const said = { yes: 'yes', nothing: 'yes', 'owners only': OWNERS_ONLY, 'no admins': noAdmins }[expected];
    expect(formatDecision(canChangeRole(makeActor('administrator'), { role: from as Role }, to as Role, false))).toBe(
      said,
    );
    const byModerator = formatDecision(
      canChangeRole(makeActor('moderator'), { role: from as Role }, to as Role, false),
    );
    const isForOwners = expected === 'owners only';
    expect(byModerator).toBe(expected === 'nothing' ? 'yes' : isForOwners ? OWNERS_ONLY : ADMINISTRATORS_ONLY);
  });

  it.each(
    tableRows(`
      an owner makes | owner     | administrator | moderator | member | guest
      owner          | yes       | yes           | yes       | yes    | yes
      administrator  | yes       | yes           | yes       | yes    | yes
      moderator      | yes       | yes           | yes       | yes    | yes
      member         | yes       | yes           | yes       | yes    | yes
      guest          | no admins | no admins     | yes       | yes    | yes
    `),
  )('decides if an owner may change a %s to a %s: %s', (from, to, expected) => {
    const said = expected === 'yes' ? 'yes' : noAdmins;
    expect(formatDecision(canChangeRole(makeActor('owner'), { role: from as Role }, to as Role, false))).toBe(said);
  });

  it('keeps the role of the only owner', () => {
    const onlyOwner = 'LAST_OWNER: The owner permission cannot be removed from the only organization owner.';
    expect(formatDecision(canChangeRole(makeActor('owner'), { role: 'owner' }, 'administrator', true))).toBe(onlyOwner);
    expect(formatDecision(canChangeRole(makeActor('owner'), { role: 'owner' }, 'owner', true))).toBe('yes');
    expect(formatDecision(canChangeRole(makeActor('owner'), { role: 'member' }, 'owner', true))).toBe('yes');
    expect(formatDecision(canChangeRole(makeActor('administrator'), { role: 'owner' }, 'member', true))).toBe(
      OWNERS_ONLY,
    );
  });

  it('allows only owners to appoint, demote or deactivate owners', () => {
    const role = fc.constantFrom(...ROLES);
    fc.assert(
      fc.property(
        role,
        role,
        role,
        fc.boolean(),
        fc.array(fc.integer({ min: 1, max: 60 })),
        (who, from, to, only, groups) => {
          fc.pre(who !== 'owner' && from !== to && (from === 'owner' || to === 'owner'));
          const actor = makeActor(who, { groups: groups.map(groupId) });
          expect(canChangeRole(actor, { role: from }, to, only).allowed).toBe(false);
          expect(canDeactivateUser(actor, makeUser({ role: 'owner' }), only).allowed).toBe(false);
        },
      ),
    );
  });
});

describe('canEndSessions', () => {
  it.each`
    who                | target             | expected
    ${'owner'}         | ${'owner'}         | ${true}
    ${'administrator'} | ${'owner'}         | ${false}
    ${'administrator'} | ${'administrator'} | ${true}
    ${'administrator'} | ${'member'}        | ${true}
    ${'moderator'}     | ${'guest'}         | ${false}
  `('decides if $who may end the sessions of $target: $expected', ({ who, target, expected }) => {
    const user = makeUser({ id: userId(77), role: target });
    expect(canEndSessions(makeActor(who), user).allowed).toBe(expected);
    expect(canEndSessions(makeActor(who), { ...user, isActive: false }).allowed).toBe(expected);
  });

  it('reports a nonexistent user as unknown', () => {
    expect(formatDecision(canEndSessions(makeActor('owner'), null))).toBe('UNKNOWN_USER: No such user');
  });
});

describe('isOnlyOwnerOf', () => {
  it('considers only the active owners of the organization', async () => {
    const fixture = await createFixture(
      aUser({ name: 'first', role: 'owner' }),
      aUser({ name: 'gone', role: 'owner', isActive: false }),
      aUser({ name: 'admin', role: 'administrator' }),
    );
    const { uow, realm, user } = fixture;
    const isOnly = (name: string) => uow.read(realm.id, (r) => isOnlyOwnerOf(r, realm.id, user(name).id));
    expect([await isOnly('first'), await isOnly('admin')]).toEqual([true, false]);
    await fixture.add(aUser({ name: 'second', role: 'owner' }));
    expect(await isOnly('first')).toBe(false);
  });
});

describe('canDeactivateUser', () => {
  const onlyOwner = 'LAST_OWNER: Cannot deactivate the only organization owner';

  it.each`
    who                | target                           | only     | expected
    ${'owner'}         | ${makeUser({ role: 'owner' })}   | ${false} | ${'yes'}
    ${'owner'}         | ${makeUser({ role: 'owner' })}   | ${true}  | ${onlyOwner}
    ${'administrator'} | ${makeUser({ role: 'owner' })}   | ${false} | ${OWNERS_ONLY}
    ${'administrator'} | ${makeUser({ role: 'owner' })}   | ${true}  | ${OWNERS_ONLY}
    ${'moderator'}     | ${makeUser({ role: 'owner' })}   | ${false} | ${INSUFFICIENT}
    ${'administrator'} | ${makeUser()}                    | ${true}  | ${'yes'}
    ${'moderator'}     | ${makeUser()}                    | ${false} | ${INSUFFICIENT}
    ${'member'}        | ${makeUser({ id: userId(10) })}  | ${false} | ${INSUFFICIENT}
    ${'member'}        | ${makeUser({ isActive: false })} | ${false} | ${DEACTIVATED}
    ${'owner'}         | ${makeUser({ bot: bot() })}      | ${false} | ${NO_USER}
    ${'owner'}         | ${null}                          | ${false} | ${NO_USER}
  `('decides if $who may deactivate a user (only owner: $only): $expected', ({ who, target, only, expected }) => {
    expect(formatDecision(canDeactivateUser(makeActor(who, { id: 10 }), target, only))).toBe(expected);
  });

  it.each`
    who         | last     | only     | expected
    ${'member'} | ${false} | ${false} | ${'yes'}
    ${'member'} | ${false} | ${true}  | ${'yes'}
    ${'member'} | ${true}  | ${false} | ${'CANNOT_DEACTIVATE_LAST_USER: Cannot deactivate the only user.'}
    ${'owner'}  | ${true}  | ${true}  | ${'CANNOT_DEACTIVATE_LAST_USER: Cannot deactivate the only user.'}
    ${'owner'}  | ${false} | ${true}  | ${'CANNOT_DEACTIVATE_LAST_USER: Cannot deactivate the only organization owner.'}
    ${'owner'}  | ${false} | ${false} | ${'yes'}
  `(
    'decides self-deactivation as $who (last user: $last, only owner: $only): $expected',
    ({ who, last, only, expected }) => {
      const decision = canDeactivateSelf(makeActor(who), { isLastActive: last, isOnlyOwner: only });
      expect(formatDecision(decision)).toBe(expected);
      if (!decision.allowed) {
        expect(decision.details).toEqual(
          last ? { isLastOwner: false, entity: 'user' } : { isLastOwner: true, entity: 'organization owner' },
        );
      }
    },
  );

  const keeper = (id: number, given: Partial<User> = {}) => makeUser({ id: userId(id), role: 'owner', ...given });
  const gone = { isActive: false };

  it.each`
    others                                           | only     | last
    ${[]}                                            | ${true}  | ${true}
    ${[keeper(2)]}                                   | ${false} | ${false}
    ${[keeper(2, gone)]}                             | ${true}  | ${true}
    ${[keeper(2, { role: 'administrator' })]}        | ${true}  | ${false}
    ${[keeper(2, { bot: bot() })]}                   | ${true}  | ${false}
    ${[keeper(2, { ...gone, bot: bot() })]}          | ${true}  | ${true}
    ${[keeper(2, { bot: bot({ isSystem: true }) })]} | ${true}  | ${true}
    ${[keeper(2, gone), keeper(3)]}                  | ${false} | ${false}
  `('decides if an owner is the only one ($only) and the last of all ($last)', ({ others, only, last }) => {
    for (const users of [
      [keeper(1), ...others],
      [...others, keeper(1)],
    ]) {
      expect(isOnlyOwner(userId(1), users)).toBe(only);
      expect(isLastActive(userId(1), users)).toBe(last);
    }
  });

  it.each`
    who                              | only     | last
    ${keeper(1, { role: 'member' })} | ${false} | ${true}
    ${keeper(1, { bot: bot() })}     | ${false} | ${true}
    ${keeper(1, gone)}               | ${false} | ${false}
    ${keeper(2)}                     | ${false} | ${false}
  `('ignores inactive users, bots and others when looking for the only owner: $who.role', ({ who, only, last }) => {
    expect(isOnlyOwner(userId(1), [who])).toBe(only);
    expect(isLastActive(userId(1), [who])).toBe(last);
  });

  it('allows administrators and permitted bot owners to reactivate a user', () => {
    const realm = makeRealm({
      permissionOverrides: { canCreateBots: TEAM, canCreateWriteOnlyBots: systemGroup.members },
    });
    const member = makeActor('member', { id: 10 });
    const bringBack = (actor: typeof member, user: User | null, isNameTaken = false) =>
      formatDecision(canReactivateUser(actor, realm, user, isNameTaken));
    expect(bringBack(makeActor('administrator'), makeUser(gone))).toBe('yes');
    expect(bringBack(makeActor('administrator'), makeUser())).toBe('yes');
    expect(bringBack(member, makeUser(gone))).toBe(INSUFFICIENT);
    expect(bringBack(member, null)).toBe(NO_USER);
    // A taken name matters only for bots.
    expect(bringBack(makeActor('administrator'), makeUser(gone), true)).toBe('yes');
    const hook = makeUser({ ...gone, bot: bot({ kind: 'incomingWebhook' }) });
    const generic = makeUser({ ...gone, bot: bot() });
    expect(bringBack(member, hook)).toBe('yes');
    expect(bringBack(member, generic)).toBe(INSUFFICIENT);
    expect(bringBack(makeActor('administrator'), generic)).toBe(INSUFFICIENT);
    expect(bringBack(inTeam('member'), generic)).toBe('yes');
    const clash =
      'BOT_NAME_TAKEN: There is already an active bot named "Hamlet" in this organization. To reactivate this bot, you must rename or deactivate the other one first.';
    expect(bringBack(inTeam('member'), generic, true)).toBe(clash);
    expect(bringBack(member, generic, true)).toBe(INSUFFICIENT);
  });

  it.each`
    other                                                          | taken
    ${makeUser({ id: userId(2), bot: bot() })}                     | ${true}
    ${makeUser({ id: userId(2), bot: bot(), isActive: false })}    | ${false}
    ${makeUser({ id: userId(2) })}                                 | ${false}
    ${makeUser({ id: userId(2), bot: bot(), fullName: 'HAMLET' })} | ${false}
    ${makeUser({ id: userId(1), bot: bot() })}                     | ${false}
  `('detects a bot name used by another active bot (users §4.3): $taken', ({ other, taken }) => {
    const own = makeUser({ id: userId(1), bot: bot(), isActive: false });
    expect(isBotNameTaken(own, [makeUser({ id: userId(3) }), other])).toBe(taken);
  });
});

describe('canCreateBot and canAdministerBot', () => {
  it.each`
    granted                     | who        | generic         | incomingWebhook
    ${'canCreateBots'}          | ${'team'}  | ${'yes'}        | ${'yes'}
    ${'canCreateBots'}          | ${'owner'} | ${INSUFFICIENT} | ${INSUFFICIENT}
    ${'canCreateWriteOnlyBots'} | ${'team'}  | ${INSUFFICIENT} | ${'yes'}
    ${'canCreateWriteOnlyBots'} | ${'owner'} | ${INSUFFICIENT} | ${INSUFFICIENT}
    ${'canCreateBots'}          | ${'guest'} | ${NO_GUESTS}    | ${NO_GUESTS}
    ${'canCreateBots'}          | ${'bot'}   | ${NO_BOTS}      | ${NO_BOTS}
  `('decides if $who may create a bot when a team is granted $granted', (row) => {
    const realm = makeRealm({
      permissionOverrides: {
        canCreateBots: systemGroup.nobody,
        canCreateWriteOnlyBots: systemGroup.nobody,
        [row.granted]: TEAM,
      },
    });
    const actors: Record<string, ReturnType<typeof makeActor>> = {
      team: inTeam('member'),
      owner: makeActor('owner'),
      guest: inTeam('guest'),
      bot: makeActor('member', { isBot: true, groups: [TEAM] }),
    };
    for (const kind of ['generic', 'outgoingWebhook', 'embedded'] as const) {
      expect(formatDecision(canCreateBot(actors[row.who]!, realm, kind))).toBe(row.generic);
    }
    expect(formatDecision(canCreateBot(actors[row.who]!, realm, 'incomingWebhook'))).toBe(row.incomingWebhook);
  });

  it.each`
    who                | target                                             | expected
    ${'member'}        | ${makeUser({ bot: bot() })}                        | ${'yes'}
    ${'member'}        | ${makeUser({ bot: bot({ ownerId: userId(11) }) })} | ${INSUFFICIENT}
    ${'member'}        | ${makeUser({ bot: bot({ ownerId: null }) })}       | ${INSUFFICIENT}
    ${'administrator'} | ${makeUser({ bot: bot({ ownerId: userId(11) }) })} | ${'yes'}
    ${'administrator'} | ${makeUser()}                                      | ${'UNKNOWN_BOT: No such bot'}
    ${'administrator'} | ${null}                                            | ${'UNKNOWN_BOT: No such bot'}
    ${'member'}        | ${null}                                            | ${'UNKNOWN_BOT: No such bot'}
    ${'member'}        | ${makeUser()}                                      | ${'UNKNOWN_BOT: No such bot'}
    ${'owner'}         | ${makeUser({ bot: bot({ isSystem: true }) })}      | ${'UNKNOWN_BOT: No such bot'}
  `('decides if $who may change a bot: $expected', ({ who, target, expected }) => {
    expect(formatDecision(canAdministerBot(makeActor(who, { id: 10 }), target))).toBe(expected);
  });

  it.each`
    who                | special                  | expected
    ${'owner'}         | ${'canCreateUsers'}      | ${'yes'}
    ${'administrator'} | ${'canCreateUsers'}      | ${OWNERS_ONLY}
    ${'member'}        | ${'canCreateUsers'}      | ${OWNERS_ONLY}
    ${'member'}        | ${'canChangeUserEmails'} | ${'yes'}
  `(
    'decides if $who may administer a bot with $special including its API key (users §15, decision 26): $expected',
    ({ who, special, expected }) => {
      const privileged = makeUser({ bot: bot(), specialPermissions: [special] });
      expect(formatDecision(canAdministerBot(makeActor(who, { id: 10 }), privileged))).toBe(expected);
    },
  );

  it.each(
    tableRows(`
      actor         | owner  | administrator  | moderator | member    | guest
      owner         | yes    | yes            | yes       | yes       | yes
      administrator | owners | yes            | yes       | yes       | yes
      moderator     | owners | administrators | yes       | yes       | yes
      member        | owners | administrators | denied    | yes       | yes
      guest         | owners | administrators | denied    | denied    | yes
    `),
  )('requires the rights of the bot from its human owner: %s of a bot with role %s: %s', (who, role, expected) => {
    const texts: Readonly<Record<string, string>> = {
      yes: 'yes',
      owners: OWNERS_ONLY,
      administrators: ADMINISTRATORS_ONLY,
      denied: INSUFFICIENT,
    };
    const target = makeUser({ bot: bot(), role: role as Role });
    expect(formatDecision(canAdministerBot(makeActor(who as Role, { id: 10 }), target))).toBe(texts[expected]);
    const gone = { ...target, isActive: false };
    const realm = makeRealm({ permissionOverrides: { canCreateBots: TEAM } });
    const actor = makeActor(who as Role, { id: 10, groups: [TEAM] });
    // Guests never hold the permission to create bots, which is also required.
    const reactivation = who === 'guest' && expected === 'yes' ? INSUFFICIENT : texts[expected];
    expect(formatDecision(canReactivateUser(actor, realm, gone, false))).toBe(reactivation);
  });

  it('checks access to the bot before its special permissions', () => {
    const others = makeUser({ bot: bot({ ownerId: userId(11) }), specialPermissions: ['canCreateUsers'] });
    expect(formatDecision(canAdministerBot(makeActor('member', { id: 10 }), others))).toBe(INSUFFICIENT);
  });

  it.each`
    target                                       | expected
    ${makeUser()}                                | ${'yes'}
    ${makeUser({ role: 'guest' })}               | ${'yes'}
    ${null}                                      | ${'UNKNOWN_USER: Failed to change owner, no such user'}
    ${makeUser({ isActive: false })}             | ${'NAMED_USER_DEACTIVATED: Failed to change owner, user is deactivated'}
    ${makeUser({ bot: bot() })}                  | ${"BOT_CANNOT_OWN_BOTS: Failed to change owner, bots can't own other bots"}
    ${makeUser({ bot: bot(), isActive: false })} | ${'NAMED_USER_DEACTIVATED: Failed to change owner, user is deactivated'}
  `('decides if a bot may be transferred to a new owner: $expected', ({ target, expected }) => {
    expect(formatDecision(canOwnBots(target))).toBe(expected);
  });
});

describe('own profile permission', () => {
  const strict = makeRealm({
    settings: { nameChangesDisabled: true, emailChangesDisabled: true, avatarChangesDisabled: true },
  });
  const fixed = 'EMAIL_CHANGES_DISABLED: Email address changes are disabled in this organization.';
  const drawn = 'AVATAR_CHANGES_DISABLED: Avatar changes are disabled in this organization.';

  it.each`
    who                | name     | email    | avatar
    ${'owner'}         | ${true}  | ${'yes'} | ${'yes'}
    ${'administrator'} | ${true}  | ${'yes'} | ${'yes'}
    ${'moderator'}     | ${false} | ${fixed} | ${drawn}
    ${'member'}        | ${false} | ${fixed} | ${drawn}
    ${'guest'}         | ${false} | ${fixed} | ${drawn}
  `('limits profile changes of $who if names, addresses and avatars are fixed', ({ who, name, email, avatar }) => {
    expect(mayChangeOwnName(makeActor(who), strict)).toBe(name);
    expect(formatDecision(canChangeOwnEmail(makeActor(who), strict))).toBe(email);
    expect(formatDecision(canChangeOwnAvatar(makeActor(who), strict))).toBe(avatar);
    expect(mayChangeOwnName(makeActor(who), makeRealm())).toBe(true);
    expect(formatDecision(canChangeOwnEmail(makeActor(who), makeRealm()))).toBe('yes');
    expect(formatDecision(canChangeOwnAvatar(makeActor(who), makeRealm()))).toBe('yes');
  });
});
