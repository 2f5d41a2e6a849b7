// Validators of requests. The first request that needs one compiles it: all of the history service take 0.3 s, and every start
// would wait for that.

import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';

/**
 * Works like the framework's own validator. It converts texts of paths and queries to the types of the schema, sets defaults,
 * and removes members that the schema does not have.
 */
const converting = new Ajv({ coerceTypes: 'array', useDefaults: true, removeAdditional: true });
const strict = new Ajv({ strict: false });

/** `validatorCompiler` of all routes that bring none. */
export const convertingValidator: FastifySchemaCompiler<object> = atFirstUse(converting);

/**
 * `validatorCompiler` of a route with a JSON body. Validates the body without converting types. Rejects members that the schema
 * does not name. Path and query parameters must be texts.
 */
export const strictValidator: FastifySchemaCompiler<object> = atFirstUse(strict);

function atFirstUse(ajv: Ajv): FastifySchemaCompiler<object> {
  return ({ schema }) => {
    let compiled: ValidateFunction | undefined;
    const validate: ReturnType<FastifySchemaCompiler<object>> = (data) => {
      if (compiled === undefined) {
        compiled = ajv.compile(schema);
        // It would keep the schemas of servers that have stopped.
        ajv.removeSchema(schema);
      }
      const isValid: boolean = compiled(data);
      validate.errors = compiled.errors ?? null;
      return isValid;
    };
    return validate;
  };
}
