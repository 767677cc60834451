import { plainToInstance } from 'class-transformer';
import { type Dto, membersOfDto, readParameter } from '../params.js';
import type { Parameters, PathParameters } from '../request.js';

/**
 * Creates a DTO instance with class-transformer, decoded and unvalidated, for class-validator. Production uses the
 * faster `parse`; tests compare both.
 * @throws HttpRefusal for inputs that no value can express, such as two aliases of one parameter
 */
export function instantiateDto<T extends object>(dto: Dto<T>, path: PathParameters, parameters: Parameters): T {
  const fields: Record<string, string> = {};
  for (const member of membersOfDto(dto)) {
    const text = path[member.name] ?? readParameter(member, parameters);
    if (text !== undefined) fields[member.name] = text;
  }
  return plainToInstance(dto, fields, { exposeDefaultValues: true });
}
