import type { RealmUrls } from '@parley/domain/shared';
import { registerSections } from './register-sections.js';
import { UserPagePresenter } from './users/user-page.js';

const realmUrls: RealmUrls = { urlOf: () => 'https://chat.example', emailDomainOf: () => 'chat.example' };
const sections = registerSections({
  realmUrls,
  serverInfo: { startedAt: 0, isDevelopment: false, webPublicEnabled: false },
  userPages: new UserPagePresenter(realmUrls),
});
const requested = (...types: string[]) =>
  sections.filter((section) => section.isRequested(new Set(types))).map(({ name }) => name);

describe('the sections of register', () => {
  it('have a name each', () => {
    const names = sections.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('are all there for clients that ask for everything', () => {
    expect(sections.filter((section) => !section.isRequested(null))).toEqual([]);
  });

  it.each`
    types                                    | names
    ${[]}                                    | ${[]}
    ${['nothing_of_the_kind']}               | ${[]}
    ${['drafts']}                            | ${['drafts']}
    ${['message']}                           | ${['message']}
    ${['update_message_flags']}              | ${[]}
    ${['unread']}                            | ${[]}
    ${['message', 'update_message_flags']}   | ${['message', 'unread']}
    ${['muted_topics']}                      | ${['muted_topics']}
    ${['muted_topics', 'user_topic']}        | ${['user_topic']}
    ${['realm_user']}                        | ${['realm_user', 'realm_users']}
    ${['realm_users']}                       | ${[]}
    ${['user_settings', 'stream', 'device']} | ${['stream', 'user_settings', 'device']}
  `('of $types are $names', ({ types, names }: { types: string[]; names: string[] }) => {
    expect(requested(...types)).toEqual(names);
  });
});
