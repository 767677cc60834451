import { createHmac, randomBytes } from 'node:crypto';
import type { UnixSeconds } from '@parley/domain/kernel';
import type {
  NewPasskeyOptions,
  OneTimeCodes,
  Passkey,
  PasskeyChecks,
  PasskeyProtocol,
  PasskeySite,
  SecondFactorSecrets,
} from '@parley/domain/users';
import { TextSeal } from './text-seal.js';

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** 160 bits, as RFC 4226 recommends. */
const APP_SECRET_LENGTH = 32;
/** 60 bits, too many to guess over the network. */
const RECOVERY_CODE_LENGTH = 12;

/** Encodes five bits of each byte as a letter. */
const base32Of = (bytes: Buffer): string => [...bytes].map((byte) => BASE32[byte & 31]).join('');

/**
 * Seals the secrets of second factors with keys derived from the server's secret. Changing that secret invalidates
 * them.
 */
export class SealedSecondFactors implements SecondFactorSecrets {
  private readonly texts: TextSeal;
  private readonly appKey: Buffer;
  private readonly codeKey: Buffer;

  constructor(secret: string) {
    this.texts = new TextSeal(hmac(secret, 'parley: secrets of authenticator apps'));
    this.appKey = hmac(secret, 'parley: offers of authenticator apps');
    this.codeKey = hmac(secret, 'parley: recovery codes');
  }

  appSecret(token: string): string {
    return base32Of(hmac(this.appKey, token)).slice(0, APP_SECRET_LENGTH);
  }

  seal(text: string, owner: string): string {
    return this.texts.seal(text, owner);
  }

  open(sealed: string, owner: string): string | null {
    return this.texts.open(sealed, owner);
  }

  makeRecoveryCode(): string {
    const code = base32Of(randomBytes(RECOVERY_CODE_LENGTH)).toLowerCase();
    return code.match(/.{4}/g)!.join('-');
  }

  fingerprint(recoveryCode: string, owner: string): string {
    const letters = recoveryCode.toLowerCase().replace(/[^a-z2-7]/g, '');
    return hmac(this.codeKey, `${owner} ${letters}`).toString('base64url');
  }
}

const STEP_SECONDS = 30;

/** Six-digit codes that change every 30 seconds, by otplib, which is loaded on first use. */
export class OtplibCodes implements OneTimeCodes {
  /** Also accepts the adjacent time steps, since phone clocks are imprecise. */
  async stepOf(
    secret: string,
    code: string,
    { now, lastStep }: { readonly now: UnixSeconds; readonly lastStep: number },
  ): Promise<number | null> {
    const token = code.replace(/\s/g, '');
    if (!/^[0-9]{6}$/.test(token)) return null;
    const { verify } = await import('otplib');
    const result = await verify({ secret, token, epoch: now, epochTolerance: STEP_SECONDS });
    const step = result.valid && 'timeStep' in result ? result.timeStep : lastStep;
    return step > lastStep ? step : null;
  }

  async picture(secret: string, { issuer, account }: { readonly issuer: string; readonly account: string }) {
    const [{ generateURI }, { encodeQR }] = await Promise.all([import('otplib'), import('qr')]);
    // A colon separates issuer and account.
    const uri = generateURI({ secret, issuer: issuer.replaceAll(':', ' '), label: account });
    return encodeQR(uri, 'raw');
  }
}

/** Timeout in milliseconds for using a device, shared by browsers and the page. */
const DEVICE_TIMEOUT_MS = 300_000;

type Library = typeof import('@simplewebauthn/server');
type Transports = Parameters<Library['verifyAuthenticationResponse']>[0]['credential']['transports'];

const bytesOf = (base64url: string) => new Uint8Array(Buffer.from(base64url, 'base64url'));
const siteOf = (url: string) => ({ expectedOrigin: new URL(url).origin, expectedRPID: new URL(url).hostname });
const descriptorsOf = (passkeys: readonly Passkey[]) =>
  passkeys.map(({ id, transports }) => ({ id, transports: [...transports] as NonNullable<Transports> }));

/** WebAuthn by @simplewebauthn/server, which is loaded on first use. */
export class SimpleWebAuthn implements PasskeyProtocol {
  async creationOptions(options: NewPasskeyOptions): Promise<object> {
    const { challenge, url, siteName, userHandle, userName, displayName, existing } = options;
    const { generateRegistrationOptions } = await load();
    return generateRegistrationOptions({
      challenge: bytesOf(challenge),
      rpName: siteName,
      rpID: siteOf(url).expectedRPID,
      userID: new TextEncoder().encode(userHandle) as Uint8Array<ArrayBuffer>,
      userName,
      userDisplayName: displayName,
      timeout: DEVICE_TIMEOUT_MS,
      excludeCredentials: descriptorsOf(existing),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    });
  }

  async verifyNew(response: string, { challenge, url }: PasskeySite) {
    const { verifyRegistrationResponse } = await load();
    try {
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: JSON.parse(response),
        expectedChallenge: challenge,
        ...siteOf(url),
        requireUserVerification: false,
      });
      if (!verified) return null;
      const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
      return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports: knownOf(transports) };
    } catch {
      return null;
    }
  }

  async requestOptions({
    challenge,
    url,
    verifiesPerson,
    passkeys,
  }: PasskeyChecks & { readonly passkeys: readonly Passkey[] | null }): Promise<object> {
    const { generateAuthenticationOptions } = await load();
    return generateAuthenticationOptions({
      challenge: bytesOf(challenge),
      rpID: siteOf(url).expectedRPID,
      timeout: DEVICE_TIMEOUT_MS,
      userVerification: verifiesPerson ? 'required' : 'preferred',
      ...(passkeys && { allowCredentials: descriptorsOf(passkeys) }),
    });
  }

  idIn(response: string): string | null {
    try {
      const { id } = JSON.parse(response) as { readonly id?: unknown };
      return typeof id === 'string' ? id : null;
    } catch {
      return null;
    }
  }

  async verify(response: string, passkey: Passkey, { challenge, url, verifiesPerson }: PasskeyChecks) {
    const { verifyAuthenticationResponse } = await load();
    const { id, publicKey, counter, transports } = passkey;
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: JSON.parse(response),
        expectedChallenge: challenge,
        ...siteOf(url),
        credential: {
          id,
          publicKey: bytesOf(publicKey),
          counter,
          transports: [...transports] as NonNullable<Transports>,
        },
        requireUserVerification: verifiesPerson,
      });
      return verified ? authenticationInfo.newCounter : null;
    } catch {
      return null;
    }
  }
}

const load = (): Promise<Library> => import('@simplewebauthn/server');

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Drops values that browsers would reject in requests. */
const knownOf = (transports: readonly string[]) => TRANSPORTS.filter((name) => transports.includes(name));
