import { avatarUrl, mediumAvatarUrl, type Pictured } from './avatar-urls.js';

const place = { id: 2, stringId: 'zulip', url: 'https://chat.example/chat', mailHost: 'chat.example' };
const person = (source: Pictured['avatar']['source']): Pictured => ({
  id: 7,
  email: 'Hamlet@Zulip.com',
  avatar: { source, version: 3 },
});
/** Of the address in lower case. */
const GRAVATAR = 'https://secure.gravatar.com/avatar/6d8cad0fd00256e7b40691d27ddfd466?d=identicon&version=3';

describe('where an avatar is', () => {
  it.each`
    source         | leftToClient | url
    ${'gravatar'}  | ${false}     | ${GRAVATAR}
    ${'gravatar'}  | ${true}      | ${null}
    ${'generated'} | ${false}     | ${'https://chat.example/chat/user_avatars/2/7.png?version=3'}
    ${'generated'} | ${true}      | ${'https://chat.example/chat/user_avatars/2/7.png?version=3'}
    ${'uploaded'}  | ${true}      | ${'https://chat.example/chat/user_avatars/2/7.png?version=3'}
  `('$source, left to the client: $leftToClient', ({ source, leftToClient, url }) => {
    expect(avatarUrl(person(source), place, leftToClient)).toBe(url);
  });

  it('has a larger one beside it', () => {
    expect(mediumAvatarUrl(person('generated'), place, false)).toContain('/user_avatars/2/7-medium.png');
    expect(mediumAvatarUrl(person('gravatar'), place, false)).toBe(`${GRAVATAR}&s=500`);
    expect(mediumAvatarUrl(person('gravatar'), place, true)).toBeNull();
  });
});
