import { workMsOf } from '@parley/testkit/process-usage';
import { getMetadataStorage, IsInt, validateSync } from 'class-validator';
import { HttpRefusal } from '../wire/reply.js';
import { Parameters } from '../wire/request.js';
import { invalidProperties } from './param-constraints.js';
import {
  anyOf,
  float,
  integer,
  integerOneOf,
  json,
  jsonOrText,
  listOf,
  NOT_JSON,
  NOT_LISTED,
  nullable,
  object,
  oneOf,
  optional,
  type ParamType,
  recordOf,
  refine,
  text,
} from './param-types.js';
import {
  BooleanParam,
  type Dto,
  IntegerListParam,
  IntegerOneOfParam,
  IntegerParam,
  membersOfDto,
  NoParameters,
  NullableIntegerParam,
  param,
  parse,
  TextListParam,
  TextParam,
  WordParam,
} from './params.js';

const form = (fields: Record<string, string>) => new Parameters(new Map(), new Map(Object.entries(fields)));

function read<T extends object>(dto: Dto<T>, fields: Record<string, string>, path = {}): unknown {
  try {
    return parse(dto, path, form(fields)).dto;
  } catch (error) {
    if (error instanceof HttpRefusal) return { refused: error.message, code: error.code, ...error.extra };
    throw error;
  }
}

const ids = listOf(integer(), { max: 10_000 });
const label = text({ max: 20 });
const subscription = object({
  name: label,
  color: optional(label),
  ids: optional(listOf(integer(), { max: 5 })),
});

class Everything {
  @BooleanParam() flag = false;
  @IntegerParam() count = 0;
  @IntegerParam({ min: 0, max: 10 }) few = 0;
  @param(float()) ratio = 0;
  @param(listOf(object({ at: float({ max: 2e9 }), id: integer() }), { max: 2 })) points: unknown[] = [];
  @TextParam({ strip: true, min: 2, max: 4 }) name = 'name';
  @TextParam({ max: 20, notBlank: true }) content = 'x';
  @TextParam({ max: 20, pattern: /^#[0-9a-f]{6}$/ }) color = '#000000';
  @WordParam(['stream', 'direct']) type = 'stream';
  @param(integerOneOf([100, 400], NOT_LISTED)) role = 400;
  @IntegerListParam({ max: 5 }) principals: number[] = [];
  @TextListParam({ max: 5, each: { max: 3 } }) words: string[] = [];
  @NullableIntegerParam() minutes: number | null = null;
  @param(anyOf([integer(), text({ max: 20 })])) days: number | string = 1;
  @param(anyOf([integer(), object({ direct_members: ids, direct_subgroups: ids })])) group: unknown = 1;
  @param(json(text({ max: 20 }))) quoted = '';
  @param(jsonOrText(anyOf([listOf(integer(), { max: 5 }), integer(), text({ max: 20 })]))) to: unknown = 'x';
  @param(recordOf(text({ max: 20 }), { max: 2, maxKeyLength: 10 })) storage: Record<string, string> = {};
  @param(listOf(subscription, { max: 2 })) subscriptions: unknown[] = [];
  @param(object({ a: integer() }, { open: true })) open: unknown = { a: 1 };
  @param(listOf(integer(), { length: 2 })) pair: number[] = [1, 2];
  @param(refine(integer(), (id) => (id === 7 ? 'Invalid {p}: seven' : undefined))) refined = 0;
  @TextParam({ max: 20, aliases: ['subject'] }) topic = '';
}

describe('parameter parsing', () => {
  const accepted: readonly (readonly [keyof Everything, string, unknown])[] = [
    ['flag', 'true', true],
    ['flag', ' false ', false],
    ['count', '10', 10],
    ['count', '-3', -3],
    ['count', ' 7 ', 7],
    ['count', '-0', 0],
    ['ratio', '1.5', 1.5],
    ['ratio', '1', 1],
    ['ratio', '1764210000.0', 1764210000],
    ['ratio', '1.7e9', 1.7e9],
    [
      'points',
      '[{"at":1764210000.0,"id":1},{"at":1.7E+9,"id":2}]',
      [
        { at: 1764210000, id: 1 },
        { at: 1.7e9, id: 2 },
      ],
    ],
    ['points', '[{"at":-0.0,"id":1}]', [{ at: 0, id: 1 }]],
    ['name', ' abc ', 'abc'],
    ['name', '😀😀😀😀', '😀😀😀😀'],
    ['content', '"quoted"', '"quoted"'],
    ['content', 'null', 'null'],
    ['type', 'direct', 'direct'],
    ['role', '100', 100],
    ['principals', '[9, 10]', [9, 10]],
    ['principals', '[]', []],
    ['principals', '[99999999999999999999]', [Number.MAX_SAFE_INTEGER]],
    ['count', `-${'9'.repeat(400)}`, Number.MIN_SAFE_INTEGER],
    ['count', '9007199254740993', Number.MAX_SAFE_INTEGER],
    ['open', '{"a":1,"b":"1.0 and 2e3"}', { a: 1 }],
    ['words', '["tea"]', ['tea']],
    ['minutes', 'null', null],
    ['minutes', '5', 5],
    ['days', '"unlimited"', 'unlimited'],
    ['days', '30', 30],
    ['group', '12', 12],
    ['group', '{"direct_members":[1],"direct_subgroups":[]}', { direct_members: [1], direct_subgroups: [] }],
    ['quoted', '"mobile"', 'mobile'],
    ['to', '[7,8]', [7, 8]],
    ['to', '5', 5],
    ['to', '"5"', '5'],
    ['to', 'general', 'general'],
    ['storage', '{"__proto__":"x"}', JSON.parse('{"__proto__":"x"}')],
    ['subscriptions', '[{"name":"x","ids":[1]}]', [{ name: 'x', ids: [1] }]],
    ['open', '{"a":1,"b":2}', { a: 1 }],
    ['refined', '8', 8],
    ['content', '😀'.repeat(20), '😀'.repeat(20)],
    ['principals', ` ${JSON.stringify([1, 2, 3, 4, 5], null, 90)} `, [1, 2, 3, 4, 5]],
    ['words', JSON.stringify(['\\u00e9'.repeat(3)]).replaceAll('\\\\', '\\'), ['ééé']],
    ['pair', '[1,2]', [1, 2]],
  ];

  it.each(accepted)('accepts %s=%s', (name, value, expected) => {
    expect(JSON.stringify((read(Everything, { [name]: value }) as Everything)[name])).toBe(JSON.stringify(expected));
  });

  const refused: readonly (readonly [keyof Everything | 'subject', string, string])[] = [
    ['flag', 'True', 'flag is not valid JSON'],
    ['flag', '', 'flag is not valid JSON'],
    ['flag', '1', 'flag is not a boolean'],
    ['flag', '"true"', 'flag is not a boolean'],
    ['flag', 'null', 'flag is not a boolean'],
    ['count', '10.5', 'count is not an integer'],
    ['count', '10.0', 'count is not an integer'],
    ['count', '1e3', 'count is not an integer'],
    ['count', '"10"', 'count is not an integer'],
    ['count', 'false', 'count is not an integer'],
    ['count', '[1]', 'count is not an integer'],
    ['count', 'foo', 'count is not valid JSON'],
    ['count', '', 'count is not valid JSON'],
    ['count', '007', 'count is not valid JSON'],
    ['few', '-1', 'few is too small'],
    ['few', '11', 'few is too large'],
    ['ratio', '"1.5"', 'ratio is not a float'],
    ['ratio', 'x', 'ratio is not valid JSON'],
    ['ratio', '1e999', 'ratio is not a float'],
    ['points', '[{"at":1,"id":2.0}]', 'points[0]["id"] is not an integer'],
    ['points', '[{"at":3.0e9,"id":2}]', 'points[0]["at"] is too large'],
    ['principals', '[1, 2e1]', 'principals[1] is not an integer'],
    ['name', ' a ', 'name is too short.'],
    ['name', 'abcde', 'name is too long (limit: 4 characters)'],
    ['content', '  ', 'content cannot be blank'],
    ['color', 'red', 'color has invalid format'],
    ['type', 'nope', 'Invalid type'],
    ['role', '101', 'Invalid role: Value error, Not in the list of possible values'],
    ['role', 'x', 'role is not valid JSON'],
    ['principals', '5', 'principals is not a list'],
    ['principals', '[8.0]', 'principals[0] is not an integer'],
    ['principals', '[1,1e1]', 'principals[1] is not an integer'],
    ['group', '7.0', 'group is not an integer'],
    ['count', '1e400', 'count is not an integer'],
    ['principals', `1e"${'\\\\"'.repeat(200)}`, 'principals is not valid JSON'],
    ['principals', `${'['.repeat(550)}${']'.repeat(550)}`, 'principals is not valid JSON'],
    ['principals', '{}', 'principals is not a list'],
    ['principals', 'null', 'principals is not a list'],
    ['principals', '[1,"x"]', 'principals[1] is not an integer'],
    ['words', '["long"]', 'words[0] is too long (limit: 3 characters)'],
    ['words', '[1]', 'words[0] is not a string'],
    ['minutes', '"x"', 'minutes is not an integer'],
    ['days', 'true', 'days is not an integer'],
    ['days', 'word', 'days is not valid JSON'],
    ['group', '"x"', 'group is not an integer'],
    ['quoted', 'mobile', 'quoted is not valid JSON'],
    ['quoted', '5', 'quoted is not a string'],
    ['storage', '[]', 'storage is not a dict'],
    ['storage', '{"a":1}', 'storage["a"] is not a string'],
    ['subscriptions', '[[]]', 'subscriptions[0] is not a dict'],
    ['subscriptions', '[{"name":5}]', 'subscriptions[0]["name"] is not a string'],
    ['subscriptions', '[{"name":"x","ids":[1,"y"]}]', 'subscriptions[0]["ids"][1] is not an integer'],
    ['subscriptions', '[{"color":"x"}]', 'name key is missing from subscriptions[0]'],
    ['subscriptions', '[{"name":"x","zzz":1}]', 'Argument "zzz" at subscriptions[0]["zzz"] is unexpected'],
    ['open', '[]', 'open is not a dict'],
    ['refined', '7', 'Invalid refined: seven'],
    ['pair', '[1]', 'pair should have exactly 2 items'],
    ['pair', '["x","y","z"]', 'pair should have exactly 2 items'],
  ];

  it.each(refused)('rejects %s=%s: %s', (name, value, message) => {
    expect(read(Everything, { [name]: value })).toMatchObject({ refused: message });
  });

  // Oversized values: most are bare text, some become malformed after the limit.
  const excessive: readonly (readonly [keyof Everything, what: string, value: string, message: string])[] = [
    ['content', '21 letters', 'x'.repeat(21), 'content is too long (limit: 20 characters)'],
    ['content', '21 smileys', '😀'.repeat(21), 'content is too long (limit: 20 characters)'],
    ['content', 'nine million letters', 'x'.repeat(9_000_000), 'content is too long (limit: 20 characters)'],
    ['color', '21 letters', 'x'.repeat(21), 'color is too long (limit: 20 characters)'],
    ['type', 'nine million letters', 'x'.repeat(9_000_000), 'Invalid type'],
    ['count', '1001 digits', '1'.repeat(1001), 'count is too long (limit: 1000 characters)'],
    ['ratio', '1001 digits', '1'.repeat(1001), 'ratio is too long (limit: 1000 characters)'],
    ['flag', '1000 spaces before it', `${' '.repeat(1000)}true`, 'flag is too long (limit: 1000 characters)'],
    ['minutes', '1001 digits', '1'.repeat(1001), 'minutes is too long (limit: 1000 characters)'],
    ['principals', 'six items', '[1,2,3,4,5,"x"]', 'principals is too long (limit: 5 items)'],
    ['principals', '1200 spaces', `[${' '.repeat(1200)}]`, 'principals is too long (limit: 1127 characters)'],
    [
      'principals',
      'twenty million letters',
      `[1.5,"${'a'.repeat(20_000_000)}"]`,
      'principals is too long (limit: 1127 characters)',
    ],
    ['words', 'six items', '["a","b","c","d","e","f"]', 'words is too long (limit: 5 items)'],
    ['days', '21 letters', JSON.stringify('x'.repeat(21)), 'days is too long (limit: 20 characters)'],
    ['quoted', '21 letters', JSON.stringify('x'.repeat(21)), 'quoted is too long (limit: 20 characters)'],
    ['to', 'six items', '[1,2,3,4,5,6]', 'to is too long (limit: 5 items)'],
    ['to', '21 letters', 'x'.repeat(21), 'to is too long (limit: 20 characters)'],
    ['to', 'nine million letters', 'x'.repeat(9_000_000), 'to is too long (limit: 1242 characters)'],
    ['storage', 'three entries', '{"a":"","b":"","c":5}', 'storage is too long (limit: 2 items)'],
    ['storage', 'eleven letters', '{"abcdefghijk":5}', 'storage["abcdefghijk"] is too long (limit: 10 characters)'],
    ['subscriptions', 'three items', '[1,2,3]', 'subscriptions is too long (limit: 2 items)'],
    [
      'subscriptions',
      'a key of 101 letters',
      `[{"name":"x","${'z'.repeat(101)}":1}]`,
      `Argument "${'z'.repeat(100)}…" at subscriptions[0]["${'z'.repeat(100)}…"] is unexpected`,
    ],
    ['open', 'a long ignored key', `{"a":1,"b":"${'x'.repeat(11_100)}"}`, 'open is too long (limit: 11031 characters)'],
    [
      'group',
      '10,001 members',
      `{"direct_members":[${'1,'.repeat(10_000)}"x"],"direct_subgroups":[]}`,
      'group["direct_members"] is too long (limit: 10000 items)',
    ],
    ['group', 'nine million spaces', ' '.repeat(9_000_000), 'group is too long (limit: 501044 characters)'],
  ];

  it.each(excessive)('rejects %s with %s', (name, _what, value, message) => {
    expect(read(Everything, { [name]: value })).toMatchObject({ refused: message });
  });

  it('requires a maximum at compile time', () => {
    const withoutMaximum = () => [
      // @ts-expect-error: a text
      text({ notBlank: true }),
      // @ts-expect-error: a text
      TextParam({ optional: true }),
      // @ts-expect-error: a list
      listOf(integer()),
      // @ts-expect-error: a list
      IntegerListParam(),
      // @ts-expect-error: a text in a list
      TextListParam({ max: 1 }),
      // @ts-expect-error: a dictionary
      recordOf(integer()),
      // @ts-expect-error: the keys of a dictionary
      recordOf(integer(), { max: 1 }),
      // @ts-expect-error: anything made by hand
      { decode: () => 1, check: () => 1, schema: {} } satisfies ParamType<number>,
    ];
    expect(withoutMaximum).toBeDefined();
  });
});

class SendMessageDto {
  @WordParam(['stream', 'direct']) type!: string;
  @TextParam({ max: 20 }) content!: string;
  @TextParam({ max: 20, aliases: ['subject'], optional: true }) topic?: string;
  @param(nullable(integer()), { optional: true }) folder_id?: number | null;
  @param(oneOf(['a']), { optional: true }) other?: string;
}

class RenameDto {
  @IntegerParam() stream_id!: number;
  @TextParam({ max: 20 }) new_name!: string;
}

class ListsDto {
  @IntegerListParam({ max: 10_000 }) numbers: number[] = [];
  @param(listOf(anyOf([label, object({ name: label, ids: listOf(integer(), { max: 5 }) })]), { max: 10_000 }))
  mixed: unknown[] = [];
}

describe('request parsing', () => {
  it('reports the first of several errors in declaration order', () => {
    const bad = { type: 'stream', content: 'x'.repeat(21), folder_id: 'bad', subject: 'a', topic: 'b' };
    expect(read(SendMessageDto, bad)).toMatchObject({ refused: 'content is too long (limit: 20 characters)' });
    expect(read(SendMessageDto, { ...bad, content: 'x' })).toMatchObject({ code: 'REQUEST_CONFUSING_VAR' });
    expect(read(SendMessageDto, { ...bad, content: 'x', subject: '' })).toMatchObject({
      code: 'REQUEST_CONFUSING_VAR',
    });
  });

  it('keeps class-validator placeholders in quoted names unchanged', () => {
    const value = JSON.stringify([{ name: 'x', '$value $property $target $constraint1': 1 }]);
    expect(read(Everything, { subscriptions: value })).toMatchObject({
      refused:
        'Argument "$value $property $target $constraint1" at ' +
        'subscriptions[0]["$value $property $target $constraint1"] is unexpected',
    });
  });

  it.each(['"x"', '1.5', 'null', '{}', '[]', '{"name":5}'])(
    'rejects 10,000 elements %s within 100 ms',
    async (element) => {
      const list = `[${Array(10_000).fill(element).join(',')}]`;
      for (const name of ['numbers', 'mixed'] as const) {
        const work = () => read(ListsDto, { [name]: list });
        expect(work()).toHaveProperty(name === 'mixed' && element === '"x"' ? name : 'refused');
        expect(await workMsOf(work, 100)).toBeLessThan(100);
      }
    },
  );

  it('rejects the first missing parameter in declaration order', () => {
    const expected = { refused: "Missing 'type' argument", code: 'REQUEST_VARIABLE_MISSING', var_name: 'type' };
    expect(read(SendMessageDto, {})).toEqual(expected);
    expect(read(SendMessageDto, { content: 'x', folder_id: 'bad' })).toEqual(expected);
  });

  it('distinguishes empty from absent values', () => {
    expect(read(SendMessageDto, { type: 'stream', content: '' })).toMatchObject({ content: '' });
  });

  it('distinguishes null from absent values', () => {
    expect(read(SendMessageDto, { type: 'stream', content: '' })).toHaveProperty('folder_id', undefined);
    expect(read(SendMessageDto, { type: 'stream', content: '', folder_id: 'null' })).toHaveProperty('folder_id', null);
  });

  it('accepts an alias but rejects two names at once', () => {
    const good = { type: 'stream', content: 'x' };
    expect(read(SendMessageDto, { ...good, subject: 'lunch' })).toMatchObject({ topic: 'lunch' });
    expect(read(SendMessageDto, { ...good, subject: 'a', topic: 'b' })).toEqual({
      refused: "Can't decide between 'topic' and 'subject' arguments",
      code: 'REQUEST_CONFUSING_VAR',
      var_name1: 'topic',
      var_name2: 'subject',
    });
  });

  it('lists unused parameters sorted and without client', () => {
    const parameters = form({ zeta: '1', alpha: '2', client: 'x', type: 'stream', content: '', subject: 't' });
    expect(parse(SendMessageDto, {}, parameters).ignored).toEqual(['alpha', 'zeta']);
    expect(parse(NoParameters, {}, form({ client: 'x' })).ignored).toEqual([]);
  });

  it('prefers path parameters over form fields', () => {
    const { dto, ignored } = parse(RenameDto, { stream_id: '5' }, form({ stream_id: '6', new_name: 'x' }));
    expect(dto).toEqual({ stream_id: 5, new_name: 'x' });
    expect(ignored).toEqual(['stream_id']);
  });

  it('creates fresh default values for each request', () => {
    const first = parse(Everything, {}, Parameters.none).dto;
    first.principals.push(1);
    expect(parse(Everything, {}, Parameters.none).dto.principals).toEqual([]);
  });

  it('describes a DTO for the documentation', () => {
    expect(membersOfDto(RenameDto).map(({ name, isRequired, type }) => [name, isRequired, type.schema.type])).toEqual([
      ['stream_id', true, 'integer'],
      ['new_name', true, 'string'],
    ]);
  });

  it('keeps inherited members after own ones, and an own member in place of the inherited one', () => {
    class InheritingDto extends RenameDto {
      @IntegerParam({ max: 9 }) color!: number;
      @TextParam({ max: 5 }) override new_name = '';
    }
    expect(membersOfDto(InheritingDto).map(({ name }) => name)).toEqual(['color', 'new_name', 'stream_id']);
    expect(membersOfDto(RenameDto).map(({ name }) => name)).toEqual(['stream_id', 'new_name']);
    expect(read(InheritingDto, {})).toMatchObject({ var_name: 'color' });
    expect(read(InheritingDto, { color: '1', stream_id: '2', new_name: 'longer' })).toMatchObject({
      refused: 'new_name is too long (limit: 5 characters)',
    });
    expect(read(InheritingDto, { color: '1' })).toMatchObject({ var_name: 'stream_id' });
  });
});

describe('constraints of class-validator', () => {
  class Constrained {
    @BooleanParam() flag?: boolean;
    @IntegerParam() count?: number;
    @IntegerParam({ min: 0, max: 10 }) few?: number;
    @param(float({ max: 1e3 }), { optional: true }) ratio?: number;
    @WordParam(['stream', '']) type?: string;
    @IntegerOneOfParam([0, 400]) role?: number;
    @TextParam({ max: 3 }) name?: string;
  }
  const VALUES: readonly unknown[] = [
    ...[
      0,
      -0,
      1,
      -1,
      10,
      10.5,
      11,
      400,
      1e3,
      1e4,
      1e300,
      Number.MAX_SAFE_INTEGER,
      Number.NaN,
      Number.POSITIVE_INFINITY,
    ],
    ...[
      '',
      '0',
      'stream',
      'Stream',
      'toString',
      '😀😀😀',
      '😀😀😀😀',
      true,
      false,
      null,
      [],
      [1],
      {},
      { valueOf: () => 1 },
      NOT_JSON,
    ],
  ];

  it('decide like the types of the parameters', () => {
    const different = membersOfDto(Constrained).flatMap(({ name, type }) =>
      VALUES.filter((value) => {
        const isInvalid = invalidProperties(Object.assign(new Constrained(), { [name]: value })).has(name);
        return isInvalid !== (type.check(value) !== undefined);
      }).map((value) => `${name} ${String(value)}`),
    );
    expect(different).toEqual([]);
  });

  it('keep their metadata apart from validations of the host application', () => {
    class OfHost {
      @IsInt() count: unknown = 'x';
    }
    expect(validateSync(new OfHost()).map(({ property }) => property)).toEqual(['count']);
    expect(getMetadataStorage().getTargetValidationMetadatas(Constrained, '', false, false)).toEqual([]);
    expect(invalidProperties(new OfHost())).toEqual(new Set());
  });
});
