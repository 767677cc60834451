import type { Transaction } from '../kernel/unit-of-work.js';
import type { User } from './user.js';
import { atLeast } from './user-delivery.js';

/** Whether exports may hold what is private to somebody: administrators follow it (organization §8). Bots are not asked. */
export async function announceExportConsent(tx: Transaction, { id, realmId, bot, settings }: User): Promise<void> {
  if (bot) return;
  await tx.events.append(realmId, {
    event: { type: 'user.export_consent_changed', userId: id, isGiven: settings.allowPrivateDataExport },
    audience: atLeast('administrator'),
  });
}
