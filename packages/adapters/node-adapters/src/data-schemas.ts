import { createRequire } from 'node:module';
import type { DataValidator, JsonObject } from '@parley/domain/kernel';
import type { ValidateFunction } from 'ajv';
import { LRUCache } from 'lru-cache';

const require = createRequire(import.meta.url);

const MAX_COMPILED = 100;

/** Compiles schemas by Ajv, which is loaded with the first schema. */
export class AjvDataValidator implements DataValidator {
  private readonly compiled = new LRUCache<string, ValidateFunction>({ max: MAX_COMPILED });

  schemaProblem(schema: string): string | null {
    try {
      this.compile(schema);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  }

  mismatch(schema: string, data: JsonObject): string | null {
    const validate = this.compile(schema);
    if (validate(data)) return null;
    const { instancePath, message, keyword, params } = validate.errors![0]!;
    const name = keyword === 'additionalProperties' ? `: ${params.additionalProperty}` : '';
    return `${instancePath} ${message}${name}`;
  }

  private compile(schema: string): ValidateFunction {
    let validate = this.compiled.get(schema);
    if (!validate) {
      const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
      // A new instance, because instances keep all schemas and reject repeated ids.
      validate = new Ajv2020({ strictTypes: false, logger: false }).compile(JSON.parse(schema));
      this.compiled.set(schema, validate);
    }
    return validate;
  }
}
