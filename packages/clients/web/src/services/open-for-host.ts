import { ParleyClient, ParleyError } from '@parley/client';
import { isServerBusy } from './failures.js';
import type { PassedTokens } from './passed-tokens.js';
import { type OpenedServices, openServices } from './services.js';

const RETRY_MS = 3000;

/**
 * Opens the user's chat in another product's page; null if nobody is logged in. Prefers the log-in of the host
 * application. Frames use only the log-in of the host page.
 */
export async function openForHost(baseUrl: string, tokens?: PassedTokens): Promise<OpenedServices | null> {
  for (const credentials of tokens ? [{ token: tokens.token }] : (['host', 'session'] as const)) {
    let services: OpenedServices | null = null;
    const userId = await userIdOf(new ParleyClient({ url: baseUrl, credentials }));
    if (userId === null) continue;
    const client = new ParleyClient({
      url: baseUrl,
      credentials,
      userId,
      onLoggedOut: (code) => services?.chat.leave(code),
      onHold: (isHeld) => {
        isServerBusy.value = isHeld;
      },
    });
    services = await openServices({ client, baseUrl, userId, kind: 'element', tokens });
    return services;
  }
  return null;
}

async function userIdOf(client: ParleyClient): Promise<number | null> {
  for (;;) {
    try {
      return (await client.get('/users/me')).user_id;
    } catch (error) {
      if (!(error instanceof ParleyError && error.isTemporary)) return null;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
