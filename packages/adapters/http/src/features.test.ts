import type { RealmUrls } from '@parley/domain/kernel';
import type { PresenceBoard } from '@parley/domain/users';
import { FEATURES } from './features.js';
import { registerSections } from './routes.js';

const declared = (kind: 'events' | 'errors') => FEATURES.flatMap((feature) => Object.keys(feature[kind] ?? {}));

describe('FEATURES', () => {
  it.each(['events', 'errors'] as const)('declares each of their %s in exactly one feature', (kind) => {
    const names = declared(kind);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

const realmUrls: RealmUrls = { urlOf: () => 'https://chat.example', emailDomainOf: () => 'chat.example' };
const sections = registerSections({
  realmUrls,
  serverInfo: {
    startedAt: 0,
    isDevelopment: false,
    webPublicEnabled: false,
    hasBigBlueButton: false,
    giphyApiKey: '',
    sendsPushes: false,
    logInKinds: new Set(),
    directoryRealms: new Set(),
    demo: null,
    isQuiet: false,
    fileLimits: { maxFileMib: 100, quotaMib: null, userQuotaMib: null },
  },
  once: (make) => make({ realmUrls } as never),
  presence: {} as PresenceBoard,
});
const requested = (...types: string[]) =>
  sections.filter((section) => section.isRequested(new Set(types))).map(({ name }) => name);

describe('registerSections', () => {
  it('gives each section a unique name', () => {
    const names = sections.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('returns all register sections if the client requests everything', () => {
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
    ${['user_settings', 'stream', 'device']} | ${['device', 'stream', 'user_settings']}
  `('returns the sections for $types: $names', ({ types, names }: { types: string[]; names: string[] }) => {
    expect(requested(...types)).toEqual(names);
  });
});
