import { answer, cells, groupId, plainActor, plainRealm, plainUser, systemGroup, userId } from '@parley/testkit';
import fc from 'fast-check';
import { ROLES, type Role } from './role.js';
import {
  insufficientUnless,
  mustBeAdministrator,
  mustBeBot,
  mustBeHuman,
  mustBeOwner,
  mustNotBeGuest,
} from './role-gates.js';
import type { Bot, User } from './user.js';
import { isRestricted, mayAccessUser } from './user-access.js';
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
  canOwnBots,
  canReactivateUser,
  canUpdateUsers,
  isBotNameTaken,
  isLastActive,
  isOnlyOwner,
  mayChangeOwnName,
} from './user-permissions.js';
import { USER_SETTINGS, type UserSettings } from './user-settings.js';

const TEAM = groupId(50);
const NO_USER = 'INVALID_INPUT: No such user';
const DEACTIVATED = 'INVALID_INPUT: User is deactivated';
const INSUFFICIENT = 'NOT_PERMITTED: Insufficient permission';
const OWNERS_ONLY = 'MUST_BE_OWNER: Must be an organization owner';
const ADMINISTRATORS_ONLY = 'MUST_BE_ADMINISTRATOR: Must be an organization administrator';
const NO_GUESTS = 'NOT_PERMITTED: Not allowed for guest users';
const NO_BOTS = 'NOT_PERMITTED: This endpoint does not accept bot requests.';

const bot = (given: Partial<Bot> = {}): Bot => ({
  kind: 'generic',
  ownerId: userId(10),
  isSystem: false,
  defaultSendingChannelId: null,
  ...given,
});
const inTeam = (role: Role) => plainActor(role, { groups: [TEAM] });

describe('by role alone', () => {
  it.each(
    cells(`
      gate                 | owner | administrator | moderator | member | guest
      mustBeOwner          | yes   | no            | no        | no     | no
      mustBeAdministrator  | yes   | yes           | no        | no     | no
      mustNotBeGuest       | yes   | yes           | yes       | yes    | no
    `),
  )('%s, %s: %s', (gate, role, expected) => {
    const [rule, refusal] = {
      mustBeOwner: [mustBeOwner, OWNERS_ONLY] as const,
      mustBeAdministrator: [mustBeAdministrator, ADMINISTRATORS_ONLY] as const,
      mustNotBeGuest: [mustNotBeGuest, NO_GUESTS] as const,
    }[gate]!;
    expect(answer(rule(plainActor(role as Role)))).toBe(expected === 'yes' ? 'yes' : refusal);
  });

  it('or by being a person', () => {
    expect(answer(mustBeHuman(plainActor('guest')))).toBe('yes');
    expect(answer(mustBeHuman(plainActor('owner', { isBot: true })))).toBe(NO_BOTS);
    expect(answer(mustBeBot(plainActor('guest', { isBot: true })))).toBe('yes');
    expect(answer(mustBeBot(plainActor('owner')))).toBe('MUST_BE_BOT: Must be a bot user');
    expect(answer(insufficientUnless(true))).toBe('yes');
    expect(answer(insufficientUnless(false))).toBe(INSUFFICIENT);
  });
});

describe('knowing somebody', () => {
  const open = plainRealm();
  const closed = plainRealm({ grants: { canAccessAllUsers: systemGroup.members } });
  const stranger = plainUser();

  it.each(
    cells(`
      who           | everybody, where all are known | a stranger, where members are | somebody he has met | a bot | himself
      owner         | yes                            | yes                           | yes                 | yes   | yes
      administrator | yes                            | yes                           | yes                 | yes   | yes
      moderator     | yes                            | yes                           | yes                 | yes   | yes
      member        | yes                            | yes                           | yes                 | yes   | yes
      guest         | yes                            | no                            | yes                 | yes   | yes
    `),
  )('%s: %s: %s', (role, whom, expected) => {
    const actor = plainActor(role as Role, { id: 10 });
    const realm = whom.startsWith('everybody') ? open : closed;
    const user =
      whom === 'a bot' ? plainUser({ bot: bot() }) : whom === 'himself' ? plainUser({ id: userId(10) }) : stranger;
    const access = { realm, isAcquainted: whom === 'somebody he has met', allowBots: true };
    expect(mayAccessUser(actor, user, access)).toBe(expected === 'yes');
    expect(answer(canAccessUser(actor, user, access))).toBe(expected === 'yes' ? 'yes' : INSUFFICIENT);
  });

  it('restricts guests only, and only where the organization does', () => {
    expect(ROLES.filter((role) => isRestricted(plainActor(role), closed))).toEqual(['guest']);
    expect(ROLES.filter((role) => isRestricted(plainActor(role), open))).toEqual([]);
  });

  it.each`
    target                                         | nothing        | deactivated | bots           | both
    ${null}                                        | ${NO_USER}     | ${NO_USER}  | ${NO_USER}     | ${NO_USER}
    ${plainUser()}                                 | ${'yes'}       | ${'yes'}    | ${'yes'}       | ${'yes'}
    ${plainUser({ isActive: false })}              | ${DEACTIVATED} | ${'yes'}    | ${DEACTIVATED} | ${'yes'}
    ${plainUser({ bot: bot() })}                   | ${NO_USER}     | ${NO_USER}  | ${'yes'}       | ${'yes'}
    ${plainUser({ bot: bot(), isActive: false })}  | ${NO_USER}     | ${NO_USER}  | ${DEACTIVATED} | ${'yes'}
    ${plainUser({ bot: bot({ isSystem: true }) })} | ${NO_USER}     | ${NO_USER}  | ${NO_USER}     | ${NO_USER}
  `('a target that may be deactivated, a bot, both or neither', (row) => {
    const kinds = {
      nothing: {},
      deactivated: { allowDeactivated: true },
      bots: { allowBots: true },
      both: { allowDeactivated: true, allowBots: true },
    };
    for (const [name, kind] of Object.entries(kinds)) {
      expect(
        answer(canAccessUser(plainActor('member'), row.target, { realm: open, isAcquainted: false, ...kind })),
      ).toBe(row[name]);
      expect(answer(canAdministerUser(plainActor('administrator'), row.target, kind))).toBe(row[name]);
    }
  });

  it('is refused after the target is found wanting', () => {
    const access = { realm: closed, isAcquainted: false };
    const guest = plainActor('guest');
    expect(answer(canAccessUser(guest, plainUser({ isActive: false }), access))).toBe(DEACTIVATED);
    expect(answer(canAccessUser(guest, null, access))).toBe(NO_USER);
    expect(answer(canAccessUser(guest, plainUser(), access))).toBe(INSUFFICIENT);
  });
});

describe('administering users', () => {
  it.each`
    who                | target                                              | expected
    ${'owner'}         | ${plainUser()}                                      | ${'yes'}
    ${'administrator'} | ${plainUser()}                                      | ${'yes'}
    ${'moderator'}     | ${plainUser()}                                      | ${INSUFFICIENT}
    ${'member'}        | ${plainUser({ bot: bot() })}                        | ${'yes'}
    ${'guest'}         | ${plainUser({ bot: bot() })}                        | ${'yes'}
    ${'member'}        | ${plainUser({ bot: bot({ ownerId: userId(11) }) })} | ${INSUFFICIENT}
    ${'member'}        | ${plainUser({ bot: bot({ ownerId: null }) })}       | ${INSUFFICIENT}
    ${'member'}        | ${plainUser({ id: userId(10) })}                    | ${INSUFFICIENT}
    ${'member'}        | ${null}                                             | ${NO_USER}
  `('$who, $target.bot: $expected', ({ who, target, expected }) => {
    expect(answer(canAdministerUser(plainActor(who, { id: 10 }), target, { allowBots: true }))).toBe(expected);
  });

  it.each`
    who                | granted  | expected
    ${'owner'}         | ${true}  | ${'yes'}
    ${'administrator'} | ${true}  | ${'yes'}
    ${'administrator'} | ${false} | ${'NOT_PERMITTED: User not authorized to create users'}
    ${'owner'}         | ${false} | ${'NOT_PERMITTED: User not authorized to create users'}
    ${'moderator'}     | ${true}  | ${ADMINISTRATORS_ONLY}
    ${'member'}        | ${false} | ${ADMINISTRATORS_ONLY}
  `('$who creates users, granted by the operator $granted: $expected', ({ who, granted, expected }) => {
    expect(answer(canCreateUsers(plainActor(who), granted))).toBe(expected);
  });

  it.each`
    who                | granted  | expected
    ${'owner'}         | ${true}  | ${'yes'}
    ${'owner'}         | ${false} | ${'NOT_PERMITTED: User not authorized to change user emails'}
    ${'administrator'} | ${true}  | ${OWNERS_ONLY}
    ${'member'}        | ${false} | ${OWNERS_ONLY}
  `("$who changes others' addresses, granted by the operator $granted: $expected", ({ who, granted, expected }) => {
    expect(answer(canChangeEmail(plainActor(who), granted))).toBe(expected);
  });

  it('is for administrators', () => {
    expect(answer(canUpdateUsers(plainActor('administrator')))).toBe('yes');
    expect(answer(canUpdateUsers(plainActor('moderator')))).toBe(ADMINISTRATORS_ONLY);
  });

  const PRIVATE = 'NOT_PERMITTED: Cannot change this setting for other users.';
  const NOBODY_NAMED = 'INVALID_INPUT: Either user_ids or group_ids must be provided.';

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
  `('$who sets $settings for others (users §6.3): $expected', ({ who, named, settings, account, expected }) => {
    const request = { namesSomebody: named, settings, changesAccount: account };
    expect(answer(canChangeSettingsOfOthers(plainActor(who), request))).toBe(expected);
  });

  it('leaves these settings to everybody themselves (users §6.3 row 3)', () => {
    const all = Object.keys(USER_SETTINGS) as (keyof UserSettings)[];
    const others = (name: keyof UserSettings) =>
      canChangeSettingsOfOthers(plainActor('owner'), { namesSomebody: true, settings: [name], changesAccount: false });
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

describe('changing a role', () => {
  const noAdmins = 'INVALID_INPUT: Guests cannot be organization administrators';

  it.each(
    cells(`
      an administrator makes | owner       | administrator | moderator   | member      | guest
      owner                  | nothing     | owners only   | owners only | owners only | owners only
      administrator          | owners only | nothing       | yes         | yes         | yes
      moderator              | owners only | yes           | nothing     | yes         | yes
      member                 | owners only | yes           | yes         | nothing     | yes
      guest                  | owners only | no admins     | yes         | yes         | nothing
    `),
  )('an administrator makes a %s a %s: %s', (from, to, expected) => {
    const said = { yes: 'yes', nothing: 'yes', 'owners only': OWNERS_ONLY, 'no admins': noAdmins }[expected];
    expect(answer(canChangeRole(plainActor('administrator'), { role: from as Role }, to as Role, false))).toBe(said);
    const byModerator = answer(canChangeRole(plainActor('moderator'), { role: from as Role }, to as Role, false));
    const isForOwners = expected === 'owners only';
    expect(byModerator).toBe(expected === 'nothing' ? 'yes' : isForOwners ? OWNERS_ONLY : ADMINISTRATORS_ONLY);
  });

  it.each(
    cells(`
      an owner makes | owner     | administrator | moderator | member | guest
      owner          | yes       | yes           | yes       | yes    | yes
      administrator  | yes       | yes           | yes       | yes    | yes
      moderator      | yes       | yes           | yes       | yes    | yes
      member         | yes       | yes           | yes       | yes    | yes
      guest          | no admins | no admins     | yes       | yes    | yes
    `),
  )('an owner makes a %s a %s: %s', (from, to, expected) => {
    const said = expected === 'yes' ? 'yes' : noAdmins;
    expect(answer(canChangeRole(plainActor('owner'), { role: from as Role }, to as Role, false))).toBe(said);
  });

  it('the only owner stays one', () => {
    const onlyOwner = 'INVALID_INPUT: The owner permission cannot be removed from the only organization owner.';
    expect(answer(canChangeRole(plainActor('owner'), { role: 'owner' }, 'administrator', true))).toBe(onlyOwner);
    expect(answer(canChangeRole(plainActor('owner'), { role: 'owner' }, 'owner', true))).toBe('yes');
    expect(answer(canChangeRole(plainActor('owner'), { role: 'member' }, 'owner', true))).toBe('yes');
    expect(answer(canChangeRole(plainActor('administrator'), { role: 'owner' }, 'member', true))).toBe(OWNERS_ONLY);
  });

  it('nobody but an owner makes, unmakes or deactivates an owner', () => {
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
          const actor = plainActor(who, { groups: groups.map(groupId) });
          expect(canChangeRole(actor, { role: from }, to, only).allowed).toBe(false);
          expect(canDeactivateUser(actor, plainUser({ role: 'owner' }), only).allowed).toBe(false);
        },
      ),
    );
  });
});

describe('deactivating somebody', () => {
  const onlyOwner = 'INVALID_INPUT: Cannot deactivate the only organization owner';

  it.each`
    who                | target                            | only     | expected
    ${'owner'}         | ${plainUser({ role: 'owner' })}   | ${false} | ${'yes'}
    ${'owner'}         | ${plainUser({ role: 'owner' })}   | ${true}  | ${onlyOwner}
    ${'administrator'} | ${plainUser({ role: 'owner' })}   | ${false} | ${OWNERS_ONLY}
    ${'administrator'} | ${plainUser({ role: 'owner' })}   | ${true}  | ${OWNERS_ONLY}
    ${'moderator'}     | ${plainUser({ role: 'owner' })}   | ${false} | ${INSUFFICIENT}
    ${'administrator'} | ${plainUser()}                    | ${true}  | ${'yes'}
    ${'moderator'}     | ${plainUser()}                    | ${false} | ${INSUFFICIENT}
    ${'member'}        | ${plainUser({ id: userId(10) })}  | ${false} | ${INSUFFICIENT}
    ${'member'}        | ${plainUser({ isActive: false })} | ${false} | ${DEACTIVATED}
    ${'owner'}         | ${plainUser({ bot: bot() })}      | ${false} | ${NO_USER}
    ${'owner'}         | ${null}                           | ${false} | ${NO_USER}
  `('$who, the only owner $only: $expected', ({ who, target, only, expected }) => {
    expect(answer(canDeactivateUser(plainActor(who, { id: 10 }), target, only))).toBe(expected);
  });

  it.each`
    who         | last     | only     | expected
    ${'member'} | ${false} | ${false} | ${'yes'}
    ${'member'} | ${false} | ${true}  | ${'yes'}
    ${'member'} | ${true}  | ${false} | ${'CANNOT_DEACTIVATE_LAST_USER: Cannot deactivate the only user.'}
    ${'owner'}  | ${true}  | ${true}  | ${'CANNOT_DEACTIVATE_LAST_USER: Cannot deactivate the only user.'}
    ${'owner'}  | ${false} | ${true}  | ${'CANNOT_DEACTIVATE_LAST_USER: Cannot deactivate the only organization owner.'}
    ${'owner'}  | ${false} | ${false} | ${'yes'}
  `('oneself, as $who, the last user $last, the only owner $only: $expected', ({ who, last, only, expected }) => {
    const decision = canDeactivateSelf(plainActor(who), { isLastActive: last, isOnlyOwner: only });
    expect(answer(decision)).toBe(expected);
    if (!decision.allowed) {
      expect(decision.details).toEqual(
        last ? { isLastOwner: false, entity: 'user' } : { isLastOwner: true, entity: 'organization owner' },
      );
    }
  });

  const keeper = (id: number, given: Partial<User> = {}) => plainUser({ id: userId(id), role: 'owner', ...given });
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
  `(
    'whether an owner is the only one ($only), and the last of all ($last), beside others',
    ({ others, only, last }) => {
      for (const users of [
        [keeper(1), ...others],
        [...others, keeper(1)],
      ]) {
        expect(isOnlyOwner(userId(1), users)).toBe(only);
        expect(isLastActive(userId(1), users)).toBe(last);
      }
    },
  );

  it.each`
    who                              | only     | last
    ${keeper(1, { role: 'member' })} | ${false} | ${true}
    ${keeper(1, { bot: bot() })}     | ${false} | ${true}
    ${keeper(1, gone)}               | ${false} | ${false}
    ${keeper(2)}                     | ${false} | ${false}
  `('nobody else is the only owner: $who.role', ({ who, only, last }) => {
    expect(isOnlyOwner(userId(1), [who])).toBe(only);
    expect(isLastActive(userId(1), [who])).toBe(last);
  });

  it('and bringing him back', () => {
    const realm = plainRealm({ grants: { canCreateBots: TEAM, canCreateWriteOnlyBots: systemGroup.members } });
    const member = plainActor('member', { id: 10 });
    const bringBack = (actor: typeof member, user: User | null, isNameTaken = false) =>
      answer(canReactivateUser(actor, realm, user, isNameTaken));
    expect(bringBack(plainActor('administrator'), plainUser(gone))).toBe('yes');
    expect(bringBack(plainActor('administrator'), plainUser())).toBe('yes');
    expect(bringBack(member, plainUser(gone))).toBe(INSUFFICIENT);
    expect(bringBack(member, null)).toBe(NO_USER);
    // Whose name it is matters for bots only.
    expect(bringBack(plainActor('administrator'), plainUser(gone), true)).toBe('yes');
    const hook = plainUser({ ...gone, bot: bot({ kind: 'incomingWebhook' }) });
    const generic = plainUser({ ...gone, bot: bot() });
    expect(bringBack(member, hook)).toBe('yes');
    expect(bringBack(member, generic)).toBe(INSUFFICIENT);
    expect(bringBack(plainActor('administrator'), generic)).toBe(INSUFFICIENT);
    expect(bringBack(inTeam('member'), generic)).toBe('yes');
    const clash =
      'INVALID_INPUT: There is already an active bot named "Hamlet" in this organization. To reactivate this bot, you must rename or deactivate the other one first.';
    expect(bringBack(inTeam('member'), generic, true)).toBe(clash);
    expect(bringBack(member, generic, true)).toBe(INSUFFICIENT);
  });

  it.each`
    other                                                           | taken
    ${plainUser({ id: userId(2), bot: bot() })}                     | ${true}
    ${plainUser({ id: userId(2), bot: bot(), isActive: false })}    | ${false}
    ${plainUser({ id: userId(2) })}                                 | ${false}
    ${plainUser({ id: userId(2), bot: bot(), fullName: 'HAMLET' })} | ${false}
    ${plainUser({ id: userId(1), bot: bot() })}                     | ${false}
  `("a bot's name is taken by another active bot of the same name (users §4.3): $taken", ({ other, taken }) => {
    const own = plainUser({ id: userId(1), bot: bot(), isActive: false });
    expect(isBotNameTaken(own, [plainUser({ id: userId(3) }), other])).toBe(taken);
  });
});

describe('bots', () => {
  it.each`
    granted                     | who        | generic         | incomingWebhook
    ${'canCreateBots'}          | ${'team'}  | ${'yes'}        | ${'yes'}
    ${'canCreateBots'}          | ${'owner'} | ${INSUFFICIENT} | ${INSUFFICIENT}
    ${'canCreateWriteOnlyBots'} | ${'team'}  | ${INSUFFICIENT} | ${'yes'}
    ${'canCreateWriteOnlyBots'} | ${'owner'} | ${INSUFFICIENT} | ${INSUFFICIENT}
    ${'canCreateBots'}          | ${'guest'} | ${NO_GUESTS}    | ${NO_GUESTS}
    ${'canCreateBots'}          | ${'bot'}   | ${NO_BOTS}      | ${NO_BOTS}
  `('made where a team is granted $granted, by $who', (row) => {
    const realm = plainRealm({
      grants: { canCreateBots: systemGroup.nobody, canCreateWriteOnlyBots: systemGroup.nobody, [row.granted]: TEAM },
    });
    const actors: Record<string, ReturnType<typeof plainActor>> = {
      team: inTeam('member'),
      owner: plainActor('owner'),
      guest: inTeam('guest'),
      bot: plainActor('member', { isBot: true, groups: [TEAM] }),
    };
    for (const kind of ['generic', 'outgoingWebhook', 'embedded'] as const) {
      expect(answer(canCreateBot(actors[row.who]!, realm, kind))).toBe(row.generic);
    }
    expect(answer(canCreateBot(actors[row.who]!, realm, 'incomingWebhook'))).toBe(row.incomingWebhook);
  });

  it.each`
    who                | target                                              | expected
    ${'member'}        | ${plainUser({ bot: bot() })}                        | ${'yes'}
    ${'member'}        | ${plainUser({ bot: bot({ ownerId: userId(11) }) })} | ${INSUFFICIENT}
    ${'member'}        | ${plainUser({ bot: bot({ ownerId: null }) })}       | ${INSUFFICIENT}
    ${'administrator'} | ${plainUser({ bot: bot({ ownerId: userId(11) }) })} | ${'yes'}
    ${'administrator'} | ${plainUser()}                                      | ${'INVALID_INPUT: No such bot'}
    ${'administrator'} | ${null}                                             | ${'INVALID_INPUT: No such bot'}
    ${'member'}        | ${null}                                             | ${'INVALID_INPUT: No such bot'}
    ${'member'}        | ${plainUser()}                                      | ${'INVALID_INPUT: No such bot'}
    ${'owner'}         | ${plainUser({ bot: bot({ isSystem: true }) })}      | ${'INVALID_INPUT: No such bot'}
  `('changed by $who: $expected', ({ who, target, expected }) => {
    expect(answer(canAdministerBot(plainActor(who, { id: 10 }), target))).toBe(expected);
  });

  it.each`
    who                | special                  | expected
    ${'owner'}         | ${'canCreateUsers'}      | ${'yes'}
    ${'administrator'} | ${'canCreateUsers'}      | ${OWNERS_ONLY}
    ${'member'}        | ${'canCreateUsers'}      | ${OWNERS_ONLY}
    ${'member'}        | ${'canChangeUserEmails'} | ${'yes'}
  `('that may $special are for $who, its key too (users §15, decision 26): $expected', ({ who, special, expected }) => {
    const privileged = plainUser({ bot: bot(), specialPermissions: [special] });
    expect(answer(canAdministerBot(plainActor(who, { id: 10 }), privileged))).toBe(expected);
  });

  it('are found wanting before it is asked who asks', () => {
    const others = plainUser({ bot: bot({ ownerId: userId(11) }), specialPermissions: ['canCreateUsers'] });
    expect(answer(canAdministerBot(plainActor('member', { id: 10 }), others))).toBe(INSUFFICIENT);
  });

  it.each`
    target                                        | expected
    ${plainUser()}                                | ${'yes'}
    ${plainUser({ role: 'guest' })}               | ${'yes'}
    ${null}                                       | ${'INVALID_INPUT: Failed to change owner, no such user'}
    ${plainUser({ isActive: false })}             | ${'INVALID_INPUT: Failed to change owner, user is deactivated'}
    ${plainUser({ bot: bot() })}                  | ${"INVALID_INPUT: Failed to change owner, bots can't own other bots"}
    ${plainUser({ bot: bot(), isActive: false })} | ${'INVALID_INPUT: Failed to change owner, user is deactivated'}
  `('are given to somebody: $expected', ({ target, expected }) => {
    expect(answer(canOwnBots(target))).toBe(expected);
  });
});

describe('changing oneself', () => {
  const strict = plainRealm({
    settings: { nameChangesDisabled: true, emailChangesDisabled: true, avatarChangesDisabled: true },
  });
  const fixed = 'NOT_PERMITTED: Email address changes are disabled in this organization.';
  const drawn = 'NOT_PERMITTED: Avatar changes are disabled in this organization.';

  it.each`
    who                | name     | email    | avatar
    ${'owner'}         | ${true}  | ${'yes'} | ${'yes'}
    ${'administrator'} | ${true}  | ${'yes'} | ${'yes'}
    ${'moderator'}     | ${false} | ${fixed} | ${drawn}
    ${'member'}        | ${false} | ${fixed} | ${drawn}
    ${'guest'}         | ${false} | ${fixed} | ${drawn}
  `('$who, where names, addresses and avatars are fixed', ({ who, name, email, avatar }) => {
    expect(mayChangeOwnName(plainActor(who), strict)).toBe(name);
    expect(answer(canChangeOwnEmail(plainActor(who), strict))).toBe(email);
    expect(answer(canChangeOwnAvatar(plainActor(who), strict))).toBe(avatar);
    expect(mayChangeOwnName(plainActor(who), plainRealm())).toBe(true);
    expect(answer(canChangeOwnEmail(plainActor(who), plainRealm()))).toBe('yes');
    expect(answer(canChangeOwnAvatar(plainActor(who), plainRealm()))).toBe('yes');
  });
});
