import { exportPath, requireExportable } from '@parley/domain/exports';

const LIMITS = { operator: 'ops@chat.example', maxMessages: 10, maxBytes: 100 };

it.each`
  messages | bytes  | taken
  ${10}    | ${100} | ${true}
  ${11}    | ${100} | ${false}
  ${10}    | ${101} | ${false}
  ${0}     | ${0}   | ${true}
`('requireExportable accepts $messages messages and $bytes bytes with limits of ten and a hundred: $taken', (given) => {
  const check = () => requireExportable(LIMITS, given);
  if (given.taken) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code: 'EXPORT_TOO_LARGE' }));
});

it('exportPath returns a path only for a complete export', () => {
  const complete = { status: 'complete', blob: 'b' as never, size: 1 } as const;
  expect(exportPath({ pathId: '2/a3/x/lear.tar.gz', state: complete })).toBe(
    '/user_avatars/exports/2/a3/x/lear.tar.gz',
  );
  for (const state of [{ status: 'pending' }, { status: 'failed', at: 1 }, { status: 'deleted', at: 1 }] as const) {
    expect(exportPath({ pathId: '2/a3/x/lear.tar.gz', state })).toBeNull();
  }
});
