{# Warns of a column that is named like an identifier and repeats, as a row is then perhaps not a person: dbt
   shows it even of a test that passes, and --warn-error makes it an error. One scan, where a column has such
   a name. Of the quasi-identifiers, one that names a person is looked at, too: with it, a class has a
   person's rows. One of at most 20 values is a category. #}
{% macro warn_of_rows(request) -%}
{%- if reid_sql.is_run() %}
{%- set named, counts = [], [] %}
{%- for column in reid_sql.columns_of(request.relation)
  if reid_sql.identifier_in(column.name)
  and (column not in request.every or (column in request.qi and reid_sql.names_a_person(column.name))) %}
{%- do named.append(column.name) %}
{%- do counts.append('count(distinct ' ~ reid_sql.alike(column) ~ ') as reid_v' ~ loop.index
  ~ ', count(' ~ reid_sql.quoted(column.name) ~ ') as reid_n' ~ loop.index) %}
{%- endfor %}
{%- set counted = run_query('select ' ~ counts | join(', ') ~ ' from ' ~ request.relation).rows[0]
  if named else [] %}
{%- set quasi = request.qi | map(attribute='name') | list %}
{%- for name in named %}
{%- set values, rows = counted[2 * loop.index0] | int, counted[2 * loop.index0 + 1] | int %}
{%- if (20 if name in quasi else 1) < values < rows %}
{%- do exceptions.warn(reid_sql.sentence_of_rows(name, values, rows)) %}
{%- endif %}
{%- endfor %}
{%- endif %}
{%- endmacro %}

{% macro identifier_in(name) %}
{# The words are those of the profile: person, national identifier, number, case. #}
{% set people = 'person|people|patient|subject|customer|client|member|user|respondent|subscriber|employee'
  ~ '|student|participant|citizen|rider|passenger|travell?er|player|cardholder|policyholder|applicant'
  ~ '|claimant|borrower|taxpayer|pupil|learner|enrollee'
  ~ '|(?:driver|resident|voter|donor|tenant|worker|guest|visitor|staff)(?=.)'
  ~ '|patientin|patienten|kunden?|klient(?:en)?|versicherten?|versicherungs(?=.)'
  ~ '|mitglied(?:s|er)?|teilnehmer|proband(?:en)?|sch(?:ü|ue)ler(?:in)?|personal(?=.)|personen'
  ~ '|mitarbeiter|matrikel(?=.)'
  ~ '|einwohner|bewohner|nutzer|benutzer|assur[eé]|salari[eé]|adh[eé]rent|[eé]tudiant|[eé]l[eè]ve'
  ~ '|personne|usager|b[eé]n[eé]ficiaire|paciente|cliente|afiliado|alumno|empleado|usuario|asegurado'
  ~ '|ciudadano|paziente|assistito|dipendente|studente|utente|cittadino|pati[eë]nt|cli[eë]nt|klant'
  ~ '|persoon|leerling|deelnemer|werknemer|medewerker|pessoa|aluno|funcion[aá]rio|pacjent|klienta'
  ~ '|pacjenta|ucze[nń]|pracownik|patientens|medlem|deltagare|anst[aä]lld'
  ~ '|potilas|henkil[oö]|hasta(?=.)|m[uü][sş]teri|пациента?|клиента?|абонента?|студента?|сотрудника?'
  ~ '|ασθεν[ηή]ς|患者|顧客|会員|職員|個人|利用者|病人|客户|员工|学生|환자|고객|회원|직원|학생' %}
{% set national = 'ssn|nhs[_ ]?number|mrn|dni|nif|curp|pesel|cpf|bsn|svnr|personnummer'
  ~ '|codice[_ ]?fiscale|matricola|msisdn|imsi|imei'
  ~ '|nhc|c[eé]dula|cuil|cuit|nuss|prontu[aá]rio|cnp|oib|jmbg|amka|hetu|henkil[oö]tunnus|isikukood'
  ~ '|kennitala|f[oø]dselsnummer|cpr[_ ]?nummer|tckn|aadhaar|ahv[_ ]?nummer|снилс|инн|マイナンバー'
  ~ '|診察券番号|病历号|病案号|身份证号|身份证号码|주민등록번호|등록번호' %}
{% set number = 'id|nr|no|num|number|nummer|n[uú]mero|num[eé]ro|key|code|kennung|#'
  ~ '|numer|numarası|номер|番号|コード|编号|号码|번호' %}
{% set words = '(^|_|\\b)(id|uuid|guid|pid|(?P<national>' ~ national
  ~ ')|(?P<person>' ~ people ~ ')(?P<number>[_ -]?(' ~ number ~ '))?'
  ~ '|(?P<case>(fall|case|akten?|dossier|expediente|account|card|kont[eo]n?|karten?|device|vehicle)'
  ~ '[_ -]?(' ~ number ~ '|zeichen)|device))[.:]?$' %}
{% do return(modules.re.search(words, name | lower)) %}
{% endmacro %}

{# Whether an identifier's name says that it is a person's, or does not say whose it is. #}
{% macro names_a_person(name) %}
{% set found = reid_sql.identifier_in(name) %}
{% set is_named = found and (found.group('person') is not none or found.group('national') is not none) %}
{% set is_person = found and (found.start() == 0 or is_named) %}
{% do return(is_person and not found.group('case')) %}
{% endmacro %}

{% macro sentence_of_rows(name, values, rows) %}
{% do return("Column '" ~ name ~ "' looks like an identifier and repeats (" ~ '{:,}'.format(values)
  ~ ' values in ' ~ '{:,}'.format(rows) ~ ' rows): if it identifies people, test a model with a row of each, '
  ~ 'or name it as entity in a policy (reid_policy).') %}
{% endmacro %}
