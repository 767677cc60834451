import { FullMemberParts } from '@parley/domain/groups';
import type { Clock, UnitOfWork } from '@parley/domain/kernel';
import {
  type LogInMethod,
  type LogInProvider,
  LogInWays,
  type PeopleDirectory,
  RealmChanges,
} from '@parley/domain/log-in';
import { MarkdownTextRenderer, SystemMessages } from '@parley/domain/writing';
import { fakeRealmUrls } from './fake-ports.js';
import { FakeRenderer } from './fake-renderer.js';

/** Returns the messages of system bots with a fake renderer. */
export const systemMessagesOn = (clock: Clock): SystemMessages =>
  new SystemMessages(new FakeRenderer(), fakeRealmUrls, clock);

/** Log-in options configured by the operator. */
export interface LogInSurroundings {
  readonly renderer: FakeRenderer;
  readonly isDev: boolean;
  readonly services: readonly Pick<LogInMethod, 'kind' | 'realms'>[];
  /** String ids of the directories' organizations. */
  readonly directories: readonly string[];
  readonly hasWebTokens: boolean;
  readonly isHostAuthenticated: boolean;
}

/** Returns `RealmChanges` on a storage; by default without any configured log-in service. */
export function realmChangesOn(
  { uow, clock }: { readonly uow: UnitOfWork; readonly clock: Clock },
  {
    renderer = new FakeRenderer(),
    isDev = false,
    services = [],
    directories = [],
    hasWebTokens = false,
    isHostAuthenticated = false,
  }: Partial<LogInSurroundings> = {},
): RealmChanges {
  return new RealmChanges(
    new MarkdownTextRenderer(uow, renderer, fakeRealmUrls),
    new FullMemberParts(uow, clock),
    new LogInWays(
      { isOn: isDev },
      services.map((method) => ({ method }) as LogInProvider),
      directories.map((realm) => ({ realm }) as PeopleDirectory),
      { isEnabledFor: () => hasWebTokens, verify: async () => null },
      { isOn: isHostAuthenticated },
    ),
    null,
  );
}
