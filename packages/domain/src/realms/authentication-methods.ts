import type { DevelopmentMode } from '../kernel/development-mode.js';
import { AUTHENTICATION_METHODS, type AuthenticationMethod, type RealmSettings } from './realm-settings.js';

/** A way to sign in, as the organization and the server have it. */
export interface AuthenticationMethodState {
  readonly method: AuthenticationMethod;
  readonly isEnabled: boolean;
  /** Whether the server can do it at all. */
  readonly isAvailable: boolean;
}

/** In the order of the registry. Of those that need another service none is built. */
export function authenticationMethods(
  settings: RealmSettings,
  { isOn: isDevelopment }: DevelopmentMode,
): readonly AuthenticationMethodState[] {
  return (Object.keys(AUTHENTICATION_METHODS) as AuthenticationMethod[]).map((method) => ({
    method,
    // Without a password, which only a server in development does.
    isEnabled: settings[method] && (method !== 'devAuthentication' || isDevelopment),
    isAvailable: method === 'devAuthentication' || method === 'emailAuthentication',
  }));
}
