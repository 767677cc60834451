import { contentTypeOf } from './blobs.js';

it.each`
  recognized           | claimed                       | ofName                        | isBinary | type
  ${'image/png'}       | ${'text/html'}                | ${'text/html'}                | ${true}  | ${'image/png'}
  ${'image/png'}       | ${'image/jpeg'}               | ${'image/jpeg'}               | ${true}  | ${'image/png'}
  ${null}              | ${'image/png'}                | ${'image/png'}                | ${false} | ${'application/octet-stream'}
  ${null}              | ${'image/png'}                | ${'text/html'}                | ${false} | ${'text/html'}
  ${null}              | ${'application/pdf'}          | ${null}                       | ${false} | ${'application/octet-stream'}
  ${null}              | ${'text/plain'}               | ${'text/html'}                | ${false} | ${'text/plain'}
  ${null}              | ${'text/plain'}               | ${'application/x-thing'}      | ${true}  | ${'application/x-thing'}
  ${null}              | ${'text/plain'}               | ${'text/plain'}               | ${true}  | ${'application/octet-stream'}
  ${null}              | ${'text/html'}                | ${null}                       | ${false} | ${'text/html'}
  ${'application/xml'} | ${'image/svg+xml'}            | ${'image/svg+xml'}            | ${false} | ${'image/svg+xml'}
  ${'application/xml'} | ${'image/png'}                | ${null}                       | ${false} | ${'application/xml'}
  ${'application/zip'} | ${'application/vnd.x.office'} | ${null}                       | ${true}  | ${'application/vnd.x.office'}
  ${'application/zip'} | ${'application/octet-stream'} | ${'application/vnd.x.office'} | ${true}  | ${'application/vnd.x.office'}
  ${'application/zip'} | ${''}                         | ${null}                       | ${true}  | ${'application/zip'}
  ${null}              | ${'application/octet-stream'} | ${'text/csv'}                 | ${false} | ${'text/csv'}
  ${null}              | ${''}                         | ${null}                       | ${false} | ${'application/octet-stream'}
  ${null}              | ${'audio/mpeg'}               | ${null}                       | ${true}  | ${'audio/mpeg'}
`(
  'contentTypeOf combines recognized $recognized, claimed $claimed and named $ofName (binary: $isBinary) to $type',
  (row) => expect(contentTypeOf(row)).toBe(row.type),
);
