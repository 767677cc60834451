import { plainToInstance } from 'class-transformer';
import { type Dto, membersOfDto, readParameter } from '../params.js';
import type { Parameters, PathParameters } from '../request.js';

/**
 * A request as class-transformer makes it of the DTO: decoded and unchecked, for class-validator to check. `parse` answers
 * requests, being many times as quick; the tests hold it to what these two say.
 * @throws HttpRefusal for what no value can express, such as two aliases of one parameter.
 */
export function instantiateDto<T extends object>(dto: Dto<T>, path: PathParameters, parameters: Parameters): T {
  const fields: Record<string, string> = {};
  for (const member of membersOfDto(dto)) {
    const text = path[member.name] ?? readParameter(member, parameters);
    if (text !== undefined) fields[member.name] = text;
  }
  return plainToInstance(dto, fields, { exposeDefaultValues: true });
}
