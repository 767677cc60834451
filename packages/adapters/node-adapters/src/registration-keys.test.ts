import { isPushKey, makePushKey, SealedBoxes } from './registration-keys.js';

/** Created by libsodium: a key pair and `crypto_box_seal` of a text. */
const PRIVATE_KEY = 'd3iPGgzqABomMdrl0F29BiAI1bMPULnim+sqeCIokAQ=';
const PUBLIC_KEY = 'SjgH0GTQdxgcwHCYnnaJHSDcpVWVSNwsd8GlAnOIKzg=';
const BOX = 'ZKXzEwRQ+n+w+7YDi5S4eiMZ1m4uh/ZbNeRqCXis/mHc0ZbqjhG/3xawLOJHXbhv6Ft/s79s7LgSsbuBDIf20pZK';

describe('SealedBoxes', () => {
  it('opens a sealed box created by libsodium', () => {
    const boxes = new SealedBoxes([PRIVATE_KEY]);
    expect(boxes.publicKeys).toEqual([PUBLIC_KEY]);
    expect(boxes.open(PUBLIC_KEY, BOX)).toBe('{"token":"c0ffee"}');
  });

  it('rejects truncated or changed boxes and boxes for another key', () => {
    const { privateKey, publicKey } = makePushKey();
    expect(isPushKey(privateKey)).toBe(true);
    const boxes = new SealedBoxes([privateKey, PRIVATE_KEY]);
    expect(boxes.publicKeys).toEqual([publicKey, PUBLIC_KEY]);
    const bytes = Buffer.from(BOX, 'base64');
    const changed = Buffer.from(bytes);
    changed[50]! ^= 1;
    const lowOrder = Buffer.concat([Buffer.alloc(32), bytes.subarray(32)]);
    for (const box of [bytes.subarray(0, 20), bytes.subarray(0, 40), changed, lowOrder, Buffer.alloc(0)]) {
      expect(boxes.open(PUBLIC_KEY, box.toString('base64'))).toBeNull();
    }
    expect(boxes.open(publicKey, BOX)).toBeNull();
    expect(boxes.open('another', BOX)).toBeNull();
  });

  it.each(['', 'abcd', `${PRIVATE_KEY}=`, PRIVATE_KEY.slice(0, -1), Buffer.alloc(33).toString('base64')])(
    'rejects %j as a private key',
    (text) => {
      expect(isPushKey(text)).toBe(false);
    },
  );
});
