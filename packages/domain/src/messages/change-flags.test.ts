import { parseFlagChange } from './change-flags.js';

describe('a change of flags', () => {
  const change = (op: string, flag: string) => {
    try {
      return parseFlagChange({ op, flag });
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each(['read', 'starred', 'collapsed'])('%s can be changed', (flag) => {
    expect(change('add', flag)).toEqual({ op: 'add', flag });
    expect(change('remove', flag)).toEqual({ op: 'remove', flag });
  });

  it.each`
    op       | flag                           | message
    ${'x'}   | ${'purple'}                    | ${"Invalid flag: 'purple'"}
    ${'add'} | ${'wildcard_mentioned'}        | ${"Invalid flag: 'wildcard_mentioned'"}
    ${'add'} | ${'is_private'}                | ${"Invalid flag: 'is_private'"}
    ${'x'}   | ${'mentioned'}                 | ${"Flag not editable: 'mentioned'"}
    ${'add'} | ${'stream_wildcard_mentioned'} | ${"Flag not editable: 'stream_wildcard_mentioned'"}
    ${'add'} | ${'topic_wildcard_mentioned'}  | ${"Flag not editable: 'topic_wildcard_mentioned'"}
    ${'add'} | ${'group_mentioned'}           | ${"Flag not editable: 'group_mentioned'"}
    ${'add'} | ${'has_alert_word'}            | ${"Flag not editable: 'has_alert_word'"}
    ${'add'} | ${'historical'}                | ${"Flag not editable: 'historical'"}
    ${'x'}   | ${'read'}                      | ${"Invalid message flag operation: 'x'"}
  `('$op $flag: $message', ({ op, flag, message }) => {
    expect(change(op, flag)).toBe(message);
  });
});
