import type { DevelopmentUsers, IssuedKey } from '@parley/domain/authentication';
import type { WireFields } from '../routing/reply.js';

/** `email` as it is stored; a client compares it with what it asked for. */
export const presentApiKey = ({ apiKey, user }: IssuedKey): WireFields => ({
  api_key: apiKey,
  email: user.email,
  user_id: user.id,
});

/** Protocol §8.2. */
export function presentDevelopmentUsers({ administrators, others, realmUrl }: DevelopmentUsers): WireFields {
  const present = (email: string) => ({ email, realm_uri: realmUrl });
  return { direct_admins: administrators.map(present), direct_users: others.map(present) };
}
