import type { IncomingMessage } from 'node:http';
import { type ProxyTrust, parseNetworks, TrustedProxies } from './proxies.js';

describe('TrustedProxies', () => {
  it.each`
    trust                             | peer                  | forwardedFor                       | ip               | hops
    ${0}                              | ${'10.0.0.1'}         | ${'192.0.2.7'}                     | ${'10.0.0.1'}    | ${0}
    ${1}                              | ${'10.0.0.1'}         | ${'9.9.9.9, 192.0.2.7'}            | ${'192.0.2.7'}   | ${1}
    ${1}                              | ${'10.0.0.1'}         | ${'192.0.2.7:51234'}               | ${'192.0.2.7'}   | ${1}
    ${'app'}                          | ${'10.0.0.1'}         | ${'192.0.2.7'}                     | ${'10.0.0.1'}    | ${0}
    ${2}                              | ${'10.0.0.1'}         | ${'9.9.9.9, 192.0.2.7, 10.0.0.2'}  | ${'192.0.2.7'}   | ${2}
    ${1}                              | ${'10.0.0.1'}         | ${undefined}                       | ${'10.0.0.1'}    | ${1}
    ${['10.0.0.0/8']}                 | ${'10.0.0.1'}         | ${'9.9.9.9, 192.0.2.7'}            | ${'192.0.2.7'}   | ${1}
    ${['10.0.0.0/8']}                 | ${'192.0.2.1'}        | ${'9.9.9.9'}                       | ${'192.0.2.1'}   | ${0}
    ${['10.0.0.0/8']}                 | ${'::ffff:10.0.0.1'}  | ${'192.0.2.7'}                     | ${'192.0.2.7'}   | ${1}
    ${1}                              | ${'10.0.0.1'}         | ${'::ffff:192.0.2.7'}              | ${'192.0.2.7'}   | ${1}
    ${1}                              | ${'10.0.0.1'}         | ${'[::FFFF:192.0.2.7]:51234'}      | ${'192.0.2.7'}   | ${1}
    ${['10.0.0.0/8']}                 | ${'::ffff:192.0.2.1'} | ${'9.9.9.9'}                       | ${'192.0.2.1'}   | ${0}
    ${['10.0.0.0/8']}                 | ${'10.0.0.1'}         | ${'9.9.9.9, ::ffff:10.0.0.2'}      | ${'9.9.9.9'}     | ${2}
    ${['10.0.0.0/8', '192.0.2.0/24']} | ${'10.0.0.1'}         | ${'9.9.9.9, 192.0.2.7, 192.0.2.8'} | ${'9.9.9.9'}     | ${3}
    ${['10.0.0.0/8']}                 | ${'10.0.0.1'}         | ${'10.1.1.1, 10.2.2.2'}            | ${'10.1.1.1'}    | ${2}
    ${['10.0.0.0/8']}                 | ${'10.0.0.1'}         | ${'192.0.2.7:51234'}               | ${'192.0.2.7'}   | ${1}
    ${['::1']}                        | ${'::1'}              | ${'[2001:db8::7]:51234'}           | ${'2001:db8::7'} | ${1}
    ${['::1']}                        | ${'::1'}              | ${'unknown'}                       | ${'::1'}         | ${1}
    ${['10.0.0.0/8']}                 | ${'10.0.0.1'}         | ${'9.9.9.9, garbage, 10.0.0.2'}    | ${'10.0.0.2'}    | ${2}
    ${2}                              | ${'10.0.0.1'}         | ${'9.9.9.9, garbage, 10.0.0.2'}    | ${'10.0.0.2'}    | ${2}
    ${2}                              | ${'10.0.0.1'}         | ${'9.9.9.9, garbage'}              | ${'10.0.0.1'}    | ${2}
    ${1}                              | ${'10.0.0.1'}         | ${'192.0.2.7"\n{"ip":"9.9.9.9'}    | ${'10.0.0.1'}    | ${1}
    ${['::1']}                        | ${''}                 | ${'192.0.2.7'}                     | ${''}            | ${0}
  `(
    'trusting $trust, resolves $forwardedFor from $peer to $ip',
    ({
      trust,
      peer,
      forwardedFor,
      ip,
      hops,
    }: { trust: ProxyTrust } & Record<'peer' | 'forwardedFor' | 'ip', string> & { hops: number }) => {
      const message = { socket: { remoteAddress: peer }, headers: { 'x-forwarded-for': forwardedFor } };
      expect(new TrustedProxies(trust).forwardingOf(message as unknown as IncomingMessage)).toEqual({ ip, hops });
    },
  );

  it.each`
    host                       | isPublic
    ${'chat.example.com'}      | ${true}
    ${'shop.chat.example.com'} | ${true}
    ${'evilchat.example.com'}  | ${false}
    ${'chat.example.com.evil'} | ${false}
    ${'example.com'}           | ${false}
    ${'localhost'}             | ${false}
    ${''}                      | ${false}
  `('recognizes $host as public: $isPublic', ({ host, isPublic }) => {
    expect(new TrustedProxies(1, 'chat.example.com').isPublic(host)).toBe(isPublic);
  });

  it.each`
    trust             | exist    | mayBeLocal
    ${0}              | ${false} | ${false}
    ${1}              | ${true}  | ${true}
    ${[]}             | ${false} | ${false}
    ${['127.0.0.1']}  | ${true}  | ${true}
    ${['10.0.0.0/8']} | ${true}  | ${false}
  `('detects configured proxies for $trust', ({ trust, exist, mayBeLocal }) => {
    const proxies = new TrustedProxies(trust);
    expect([proxies.exist, proxies.mayBe('127.0.0.1')]).toEqual([exist, mayBeLocal]);
  });
});

describe('parseNetworks', () => {
  it.each`
    text                         | networks
    ${'10.0.0.0/8'}              | ${['10.0.0.0/8']}
    ${'10.1.2.3, 2001:db8::/32'} | ${['10.1.2.3', '2001:db8::/32']}
    ${'loopback'}                | ${['127.0.0.0/8', '::1/128']}
    ${'10.0.0.0/33'}             | ${null}
    ${'2001:db8::/129'}          | ${null}
    ${'example.com'}             | ${null}
    ${'10.0.0.0/8,'}             | ${null}
    ${''}                        | ${null}
    ${'constructor'}             | ${null}
    ${'10.0.0.1,'.repeat(100)}   | ${null}
  `('parses $text', ({ text, networks }) => {
    expect(parseNetworks(text)).toEqual(networks);
  });
});
