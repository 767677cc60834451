import { formatDecision, makeActor, makeChannel, makeRealm, TEAM, tableRows, userId } from '@parley/testkit';
import type { Role } from '../access/roles.js';
import { canSeeMetadata } from '../channels/channel-access.js';
import {
  canAddCustomEmoji,
  canChangeRealm,
  canChangeUserDefaults,
  canDeactivateRealm,
  canExportWithoutConsent,
  canManageDomains,
  canOverrideDefaultEmoji,
  canRemoveCustomEmoji,
  canSetAuthenticationMethods,
} from './realm-permissions.js';
import { REALM_PERMISSIONS, REALM_SETTINGS, type RealmPermission, type RealmSettingName } from './realm-settings.js';

const OWNERS = 'MUST_BE_OWNER: Must be an organization owner';
const ADMINISTRATORS = 'MUST_BE_ADMINISTRATOR: Must be an organization administrator';
const FOR_THE_OPERATOR: readonly RealmSettingName[] = ['ownerFullContentAccess', 'presenceDisabled'];
const NAMES = [...Object.keys(REALM_SETTINGS), ...Object.keys(REALM_PERMISSIONS)].filter(
  (name) => !FOR_THE_OPERATOR.some((other) => other === name),
) as readonly (RealmSettingName | RealmPermission)[];

/** Settings for owners according to organization §2.1 and §2.2, column "who". */
const FOR_OWNERS = new Set<string>([
  'inviteRequired',
  'emailsRestrictedToDomains',
  'disallowDisposableEmailAddresses',
  'waitingPeriodThreshold',
  'messageRetentionDays',
  'secondFactorRequiredFor',
  'createMultiuseInvite',
  'canInviteUsers',
  'canCreateGroups',
  'canManageAllGroups',
  'canManageBilling',
]);

describe('organization permission', () => {
  it.each(NAMES.map((name) => [name, FOR_OWNERS.has(name) ? 'owners' : 'administrators'] as const))(
    'restricts %s to %s',
    (name, who) => {
      expect(formatDecision(canChangeRealm(makeActor('owner'), [name]))).toBe('yes');
      expect(formatDecision(canChangeRealm(makeActor('administrator'), [name]))).toBe(
        who === 'owners' ? OWNERS : 'yes',
      );
      expect(formatDecision(canChangeRealm(makeActor('moderator'), [name]))).toBe(ADMINISTRATORS);
    },
  );

  it.each(FOR_THE_OPERATOR)('denies changing the operator setting %s', (name) => {
    expect(formatDecision(canChangeRealm(makeActor('owner'), [name]))).toBe('NOT_PERMITTED: Insufficient permission');
  });

  it('restricts a request to owners if it contains an owner setting', () => {
    expect(formatDecision(canChangeRealm(makeActor('administrator'), ['description', 'inviteRequired']))).toBe(OWNERS);
    expect(formatDecision(canChangeRealm(makeActor('administrator'), ['canCreateBots', 'canCreateGroups']))).toBe(
      OWNERS,
    );
    expect(formatDecision(canChangeRealm(makeActor('administrator'), []))).toBe('yes');
    expect(formatDecision(canChangeRealm(makeActor('member'), []))).toBe(ADMINISTRATORS);
  });

  it.each(
    tableRows(`
      action                   | owner | administrator | moderator | member | guest
      deactivate the organization            | yes   | owners        | owners    | owners | owners
      manage allowed domains         | yes   | owners        | owners    | owners | owners
      change login methods   | yes   | owners        | admins    | admins | admins
      change user defaults   | yes   | yes           | admins    | admins | admins
    `),
  )('decides if someone may %s as %s: %s', (action, role, expected) => {
    const rule = {
      'deactivate the organization': canDeactivateRealm,
      'manage allowed domains': canManageDomains,
      'change login methods': canSetAuthenticationMethods,
      'change user defaults': canChangeUserDefaults,
    }[action]!;
    expect(formatDecision(rule(makeActor(role as Role)))).toBe(
      { yes: 'yes', owners: OWNERS, admins: ADMINISTRATORS }[expected],
    );
  });

  it('shows every channel to administrators', () => {
    for (const privacy of ['webPublic', 'public', 'privateSharedHistory', 'privateProtectedHistory'] as const) {
      const administrator = makeActor('administrator');
      expect(formatDecision(canSeeMetadata(administrator, makeChannel({ privacy }), false))).toBe('yes');
    }
  });

  it.each`
    who                | isEnabled | expected
    ${'owner'}         | ${true}   | ${'yes'}
    ${'owner'}         | ${false}  | ${'NOT_PERMITTED: Insufficient permission'}
    ${'administrator'} | ${true}   | ${OWNERS}
  `('decides if $who may export without consent (enabled by the operator: $isEnabled)', (row) => {
    const realm = makeRealm({ settings: { ownerFullContentAccess: row.isEnabled } });
    expect(formatDecision(canExportWithoutConsent(makeActor(row.who), realm))).toBe(row.expected);
  });

  it('allows adding emoji to holders of the permission', () => {
    const realm = makeRealm({ permissionOverrides: { canAddCustomEmoji: TEAM } });
    expect(formatDecision(canAddCustomEmoji(makeActor('member', { groups: [TEAM] }), realm))).toBe('yes');
    expect(formatDecision(canAddCustomEmoji(makeActor('owner'), realm))).toBe('NOT_PERMITTED: Insufficient permission');
    expect(formatDecision(canAddCustomEmoji(makeActor('guest', { groups: [TEAM] }), realm))).toBe(
      'MUST_NOT_BE_GUEST: Not allowed for guest users',
    );
  });

  it.each`
    who                | isDefault | expected
    ${'owner'}         | ${true}   | ${'yes'}
    ${'administrator'} | ${true}   | ${'yes'}
    ${'moderator'}     | ${true}   | ${'CANNOT_OVERRIDE_EMOJI: Only administrators can override default emoji.'}
    ${'member'}        | ${true}   | ${'CANNOT_OVERRIDE_EMOJI: Only administrators can override default emoji.'}
    ${'member'}        | ${false}  | ${'yes'}
  `('decides if $who may override a default emoji ($isDefault) by name (organization §7)', (row) => {
    expect(formatDecision(canOverrideDefaultEmoji(makeActor(row.who), row.isDefault))).toBe(row.expected);
  });

  it('allows administrators and the author to remove an emoji', () => {
    const refused = 'NOT_EMOJI_AUTHOR: Must be an organization administrator or emoji author';
    expect(formatDecision(canRemoveCustomEmoji(makeActor('administrator'), null))).toBe('yes');
    expect(formatDecision(canRemoveCustomEmoji(makeActor('guest', { id: 10 }), userId(10)))).toBe('yes');
    expect(formatDecision(canRemoveCustomEmoji(makeActor('moderator', { id: 10 }), userId(11)))).toBe(refused);
    expect(formatDecision(canRemoveCustomEmoji(makeActor('moderator', { id: 10 }), null))).toBe(refused);
  });
});
