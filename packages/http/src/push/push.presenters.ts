import type { Device, DeviceChange, RegistrationError } from '@parley/domain/push';
import type { WireFields } from '../kernel/reply.js';

/** Organization §12.2. */
const REGISTRATION_ERROR_CODES: Readonly<Record<RegistrationError, string>> = {
  unknownPublicKey: 'INVALID_BOUNCER_PUBLIC_KEY',
  invalidRegistration: 'BAD_REQUEST',
  expired: 'REQUEST_EXPIRED',
};

const presentError = (error: RegistrationError | null): string | null => error && REGISTRATION_ERROR_CODES[error];

/** Organization §11. */
export const presentDevice = ({ key, tokenId, pending, tokenUpdatedAt, error }: Device): WireFields => ({
  push_key_id: key?.id ?? null,
  push_token_id: tokenId,
  pending_push_token_id: pending?.tokenId ?? null,
  push_token_last_updated_timestamp: tokenUpdatedAt,
  push_registration_error_code: presentError(error),
});

/** The changed ones of the same fields. */
export const presentDeviceChange = (change: DeviceChange): WireFields => ({
  ...(change.keyId !== undefined && { push_key_id: change.keyId }),
  ...(change.tokenId !== undefined && { push_token_id: change.tokenId }),
  ...(change.pendingTokenId !== undefined && { pending_push_token_id: change.pendingTokenId }),
  ...(change.tokenUpdatedAt !== undefined && { push_token_last_updated_timestamp: change.tokenUpdatedAt }),
  ...(change.error !== undefined && { push_registration_error_code: presentError(change.error) }),
});
