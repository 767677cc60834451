import { warn } from '@parley/http';
import type { ParleyDependencies } from './parley-dependencies.js';

const QUIET_SERVER = 'This server is quiet: it sends nothing to people or other servers.';

export const WHILE_QUIET =
  'emails, webhooks, previews, scheduled messages and reminders wait until the server starts with PARLEY_QUIET=off (quiet: false)';

/** Returns true if the server is quiet by its setting or, without one, as a copy for trying things. Logs it. */
export function isQuietServer(
  { isQuiet }: { readonly isQuiet: boolean | null },
  isCopy: boolean,
  { logger, isOneOff = false }: Pick<ParleyDependencies, 'logger' | 'isOneOff'>,
): boolean {
  const result = isQuiet ?? isCopy;
  if (result && !isOneOff) warn(logger, {}, `the server is quiet: ${WHILE_QUIET}`);
  return result;
}

/** Removes the ways out of a quiet server. Stored jobs that need one wait (`JobKind.waitsWhileQuiet`). */
export const quietly = (options: ParleyDependencies): ParleyDependencies =>
  options.isQuiet
    ? {
        ...options,
        mailer: {
          send: async () => Promise.reject(new Error(QUIET_SERVER)),
          removeTo: async (address) => options.mailer.removeTo?.(address),
        },
        push: null,
        webPush: null,
        bigBlueButton: null,
      }
    : options;
