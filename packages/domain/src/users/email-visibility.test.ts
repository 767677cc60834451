import { makeUser, tableRows, userId } from '@parley/testkit';
import type { Role } from '../access/roles.js';
import type { EmailVisibility } from '../realms/user-settings.js';
import {
  canFindByEmail,
  canSeeEmail,
  dummyAddress,
  isEmailPublic,
  publicAddress,
  visibleEmailSettings,
} from './accessible-users.js';

const withVisibility = (emailAddressVisibility: EmailVisibility) =>
  makeUser({ settings: { ...makeUser().settings, emailAddressVisibility } });
const bot = { kind: 'generic', ownerId: userId(10), isSystem: false, defaultSendingChannelId: null } as const;

describe('canSeeEmail', () => {
  it.each(
    tableRows(`
      visible to     | owner | administrator | moderator | member | guest
      everyone       | yes   | yes           | yes       | yes    | yes
      members        | yes   | yes           | yes       | yes    | no
      moderators     | yes   | yes           | yes       | no     | no
      administrators | yes   | yes           | no        | no     | no
      nobody         | no    | no            | no        | no     | no
    `),
  )('decides if an email with visibility %s is shown to %s: %s', (setting, role, expected) => {
    const user = withVisibility(setting as EmailVisibility);
    const viewer = { id: userId(10), role: role as Role };
    expect(canSeeEmail(viewer, user)).toBe(expected === 'yes');
    expect(canFindByEmail(viewer, user)).toBe(expected === 'yes');
    expect(visibleEmailSettings(viewer.role).includes(user.settings.emailAddressVisibility)).toBe(expected === 'yes');
    // Users always see their own email, even if they cannot find themselves by it.
    expect(canSeeEmail({ ...viewer, id: user.id }, user)).toBe(true);
  });

  it('shows the email of a bot to everyone', () => {
    const shyBot = { ...withVisibility('nobody'), bot };
    expect(canSeeEmail({ id: userId(10), role: 'guest' }, shyBot)).toBe(true);
    expect(isEmailPublic(shyBot)).toBe(true);
    expect(publicAddress(shyBot, 'chat.example.com')).toBe('hamlet@example.com');
  });

  it.each`
    setting             | expected
    ${'everyone'}       | ${'hamlet@example.com'}
    ${'members'}        | ${'user20@chat.example.com'}
    ${'moderators'}     | ${'user20@chat.example.com'}
    ${'administrators'} | ${'user20@chat.example.com'}
    ${'nobody'}         | ${'user20@chat.example.com'}
  `('shows an email visible to $setting publicly as $expected', ({ setting, expected }) => {
    const user = withVisibility(setting);
    expect(publicAddress(user, 'chat.example.com')).toBe(expected);
    expect(isEmailPublic(user)).toBe(setting === 'everyone');
    expect(dummyAddress(user.id, 'x.org')).toBe('user20@x.org');
  });
});
