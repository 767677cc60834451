import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** Flags of authenticator data: person present, person verified, key attached. */
const PRESENT = 1;
const VERIFIED = 4;
const ATTACHED = 64;

const base64url = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();

/** CBOR lengths: one byte up to 23, else one or two more bytes. */
function head(kind: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(kind << 5) | length]);
  if (length < 256) return Buffer.from([(kind << 5) | 24, length]);
  return Buffer.from([(kind << 5) | 25, length >> 8, length & 255]);
}
const cborBytes = (bytes: Buffer): Buffer => Buffer.concat([head(2, bytes.length), bytes]);
const cborText = (text: string): Buffer => Buffer.concat([head(3, text.length), Buffer.from(text)]);
const cborMap = (...entries: readonly Buffer[]): Buffer => Buffer.concat([head(5, entries.length / 2), ...entries]);
/** Small integers, including negative ones. */
const cborInteger = (value: number): Buffer => (value < 0 ? head(1, -1 - value) : head(0, value));

/** Options that pages pass to the browser. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
}

/** Device with one key pair, as defined by WebAuthn. */
export class TestPasskey {
  readonly id = base64url(randomBytes(16));
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  counter = 0;
  verifiesPerson = true;

  constructor(private readonly origin: string) {}

  /** Response to `navigator.credentials.create`. */
  create({ challenge, rp }: PasskeyOptions): string {
    const { x, y } = this.keys.publicKey.export({ format: 'jwk' });
    const coordinates = [x!, y!].map((it) => cborBytes(Buffer.from(it, 'base64url')));
    const key = cborMap(
      ...[1, 2, 3, -7, -1, 1].map(cborInteger),
      cborInteger(-2),
      coordinates[0]!,
      cborInteger(-3),
      coordinates[1]!,
    );
    const id = Buffer.from(this.id, 'base64url');
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
    const authenticatorData = Buffer.concat([this.data(rp!.id, ATTACHED), credential]);
    const attestationObject = cborMap(
      cborText('fmt'),
      cborText('none'),
      cborText('attStmt'),
      cborMap(),
      cborText('authData'),
      cborBytes(authenticatorData),
    );
    return this.wrapped({
      clientDataJSON: this.clientData('webauthn.create', challenge),
      attestationObject: base64url(attestationObject),
      transports: ['internal', 'carrier-pigeon'],
    });
  }

  /** Response to `navigator.credentials.get`. */
  get({ challenge, rpId }: PasskeyOptions): string {
    const clientDataJSON = this.clientData('webauthn.get', challenge);
    const authenticatorData = this.data(rpId!, 0);
    const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    const signature = sign('sha256', signed, this.keys.privateKey);
    return this.wrapped({
      clientDataJSON,
      authenticatorData: base64url(authenticatorData),
      signature: base64url(signature),
    });
  }

  private clientData(type: string, challenge: string): string {
    return base64url(JSON.stringify({ type, challenge, origin: this.origin, crossOrigin: false }));
  }

  private data(rpId: string, flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(++this.counter);
    const verified = this.verifiesPerson ? VERIFIED : 0;
    return Buffer.concat([sha256(rpId), Buffer.from([PRESENT | verified | flags]), counter]);
  }

  private wrapped(response: object): string {
    const { id } = this;
    return JSON.stringify({ id, rawId: id, type: 'public-key', response, clientExtensionResults: {} });
  }
}
