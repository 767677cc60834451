import { createRequire } from 'node:module';
import { type DataValidator, dataSchemaProblem, type JsonObject } from '@parley/domain/kernel';
import type { Options, ValidateFunction } from 'ajv';
import { LRUCache } from 'lru-cache';
import type { RE2JS } from 're2js';

const require = createRequire(import.meta.url);

const MAX_COMPILED = 100;
/** Maximum steps of all patterns for one value: characters, times the instructions of the pattern. */
const MAX_PATTERN_STEPS = 1_000_000;

class TooManySteps extends Error {
  override readonly message = 'takes too many steps to match the patterns of the schema';
}

/** Compiles schemas by Ajv, and their patterns by RE2. Both are loaded with the first schema. */
export class AjvDataValidator implements DataValidator {
  /** Null for schemas that cannot be used. */
  private readonly compiled = new LRUCache<string, { readonly validate: ValidateFunction | null }>({
    max: MAX_COMPILED,
  });
  private stepsLeft = 0;

  schemaProblem(schema: string): string | null {
    try {
      this.compile(schema);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  }

  mismatch(schema: string, data: JsonObject): string | null {
    let stored = this.compiled.get(schema);
    if (!stored) {
      stored = { validate: this.compileStored(schema) };
      this.compiled.set(schema, stored);
    }
    const { validate } = stored;
    if (!validate) return null;
    this.stepsLeft = MAX_PATTERN_STEPS;
    try {
      if (validate(data)) return null;
    } catch (error) {
      if (error instanceof TooManySteps) return ` ${error.message}`;
      throw error;
    }
    const { instancePath, message, keyword, params } = validate.errors![0]!;
    const name = keyword === 'additionalProperties' ? `: ${params.additionalProperty}` : '';
    return `${instancePath} ${message}${name}`;
  }

  private compileStored(schema: string): ValidateFunction | null {
    try {
      return dataSchemaProblem(schema) === null ? this.compile(schema) : null;
    } catch {
      return null;
    }
  }

  private compile(schema: string): ValidateFunction {
    const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
    const regExp = (pattern: string) => this.compilePattern(pattern);
    // Evaluated only in code that Ajv writes to files.
    const code: Options['code'] = { regExp: Object.assign(regExp, { code: 'pattern' }) };
    // Ajv matches patterns of its meta-schema too.
    this.stepsLeft = MAX_PATTERN_STEPS;
    // Not strict, because the subset has no unknown keywords. A new instance, because instances keep all schemas and
    // reject repeated ids.
    return new Ajv2020({ strict: false, logger: false, code }).compile(JSON.parse(schema));
  }

  private compilePattern(pattern: string) {
    const { RE2JS: engine } = require('re2js') as { RE2JS: typeof RE2JS };
    const program = engine.compile(pattern);
    const stepsPerCharacter = program.programSize();
    return {
      toString: () => pattern,
      test: (text: string): boolean => {
        this.stepsLeft -= (text.length + 1) * stepsPerCharacter;
        if (this.stepsLeft < 0) throw new TooManySteps();
        return program.test(text);
      },
    };
  }
}
