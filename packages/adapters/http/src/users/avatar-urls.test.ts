import { type AvatarOwner, avatarUrl, mediumAvatarUrl } from './avatar-urls.js';

const realm = { id: 2, stringId: 'zulip', url: 'https://chat.example/chat', emailDomain: 'chat.example' };
const KEY = '0123456789abcdef'.repeat(2);
const person = (source: AvatarOwner['avatar']['source']): AvatarOwner => ({
  id: 7,
  email: 'Hamlet@Zulip.com',
  avatar: source === 'uploaded' ? { source, version: 3, key: KEY } : { source, version: 3 },
});
/** MD5 hash of the lower-case address. */
const GRAVATAR = 'https://secure.gravatar.com/avatar/6d8cad0fd00256e7b40691d27ddfd466?d=identicon&version=3';

const DRAWN = 'https://chat.example/chat/user_avatars/2/7.png?version=3';
const UPLOADED = `https://chat.example/chat/user_avatars/2/${KEY}.png?version=3`;

describe('avatarUrl', () => {
  it.each`
    source         | seesEmail | clientGravatar | url
    ${'gravatar'}  | ${true}   | ${false}       | ${GRAVATAR}
    ${'gravatar'}  | ${true}   | ${true}        | ${null}
    ${'gravatar'}  | ${false}  | ${false}       | ${DRAWN}
    ${'gravatar'}  | ${false}  | ${true}        | ${DRAWN}
    ${'generated'} | ${true}   | ${false}       | ${DRAWN}
    ${'generated'} | ${false}  | ${true}        | ${DRAWN}
    ${'uploaded'}  | ${true}   | ${true}        | ${UPLOADED}
    ${'uploaded'}  | ${false}  | ${false}       | ${UPLOADED}
  `(
    'returns the URL of a $source avatar (sees email: $seesEmail, client_gravatar: $clientGravatar)',
    ({ source, url, ...viewer }) => {
      expect(avatarUrl(person(source), realm, viewer)).toBe(url);
      const medium = url === null ? null : url === GRAVATAR ? `${GRAVATAR}&s=500` : url.replace('.png', '-medium.png');
      expect(mediumAvatarUrl(person(source), realm, viewer)).toBe(medium);
    },
  );
});
