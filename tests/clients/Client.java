// PostgreSQL's JDBC driver, as DBeaver, DataGrip, Metabase and Tableau use it: java -cp postgresql.jar Client.java URL …
// Each step tells one line: its name, a tab, what it found.
import java.io.StringWriter;
import java.sql.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

public class Client {
    static void told(String name, Object value) {
        System.out.println(name + "\t" + value);
    }

    static List<String> column(ResultSet rows, String name) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) found.add(String.valueOf(rows.getString(name)));
        rows.close();
        return found;
    }

    static List<String> rows(ResultSet rows, String... names) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) {
            List<String> row = new ArrayList<>();
            for (String name : names) row.add(String.valueOf(rows.getObject(name)));
            found.add(String.join(" ", row));
        }
        rows.close();
        return found;
    }

    public static void main(String[] wanted) throws Exception {
        String url = wanted[0];
        Properties login = new Properties();
        login.setProperty("user", wanted[1]);
        login.setProperty("password", wanted[2]);
        try (Connection connection = DriverManager.getConnection(url, login)) {
            statements(connection, wanted);
            cursors(connection, wanted);
            errors(connection, wanted);
            metadata(connection);
            cancel(connection, wanted);
        }
        login.setProperty("password", "wrong");
        try {
            DriverManager.getConnection(url, login);
        } catch (SQLException error) {
            told("password", error.getSQLState());
        }
    }

    static void statements(Connection connection, String[] wanted) throws Exception {
        told("valid", connection.isValid(10));
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(wanted[3])) {
            ResultSetMetaData shape = rows.getMetaData();
            List<String> types = new ArrayList<>();
            for (int i = 1; i <= shape.getColumnCount(); i++) types.add(shape.getColumnLabel(i) + ":" + shape.getColumnTypeName(i));
            told("types", String.join(" ", types));
            rows.next();
            rows.next();
            told("row", rows.getBoolean(1) + " " + (rows.getLong(2) > 8000) + " " + (rows.getDouble(3) > 45) + " "
                + rows.getBigDecimal(4).scale() + " " + rows.getString(5) + " " + rows.getDate(6) + " " + rows.getTimestamp(7) + " "
                + rows.getObject(8, java.time.OffsetDateTime.class).toInstant() + " " + rows.getShort(9) + " " + rows.getObject(10)
                + " " + rows.wasNull() + " " + rows.getFloat(11));
            told("warnings", statement.getWarnings() == null ? "none" : statement.getWarnings().getMessage());
        }
        // From the fifth execution on the driver names the statement and asks for binary.
        try (PreparedStatement statement = connection.prepareStatement(wanted[4])) {
            told("parameters", statement.getParameterMetaData().getParameterTypeName(1));
            told("described", statement.getMetaData().getColumnName(1));
            long found = 0;
            for (int i = 0; i < 7; i++) {
                statement.setString(1, "hdl");
                statement.setInt(2, -7300);
                statement.setDouble(3, 250.5);
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    found = rows.getLong(1);
                }
            }
            told("prepared", found);
        }
    }

    static void cursors(Connection connection, String[] wanted) throws Exception {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(1);
            told("fetched", column(statement.executeQuery(wanted[5]), "test"));
        }
        Savepoint before = connection.setSavepoint();
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT COUNT(*) FROM no_such_table");
        } catch (SQLException error) {
            told("missing", error.getSQLState());
        }
        connection.rollback(before);
        told("isolation", connection.getTransactionIsolation());
        connection.commit();
        connection.setReadOnly(true);
        connection.setAutoCommit(true);
        StringWriter copied = new StringWriter();
        new CopyManager(connection.unwrap(org.postgresql.core.BaseConnection.class))
            .copyOut("COPY (" + wanted[6] + ") TO STDOUT WITH (FORMAT csv)", copied);
        told("copied", copied.toString().lines().map(line -> line.split(",")[0]).toList());
    }

    static void errors(Connection connection, String[] wanted) throws Exception {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT AVG(bmy) FROM patients");
        } catch (org.postgresql.util.PSQLException error) {
            told("error", error.getSQLState() + " " + error.getServerErrorMessage().getPosition() + " "
                + error.getServerErrorMessage().getMessage());
        }
    }

    static void metadata(Connection connection) throws Exception {
        DatabaseMetaData data = connection.getMetaData();
        told("product", data.getDatabaseProductName() + " " + data.getDatabaseMajorVersion());
        told("keywords", data.getSQLKeywords().length() > 100);
        told("functions", data.getNumericFunctions().length() > 10 && data.getStringFunctions().length() > 10);
        told("limits", data.getMaxColumnsInIndex() + " " + data.getMaxColumnNameLength() + " " + data.getMaxIndexLength());
        told("schemas", column(data.getSchemas(), "TABLE_SCHEM").contains("public"));
        told("catalogs", column(data.getCatalogs(), "TABLE_CAT").contains("nafld"));
        told("tableTypes", column(data.getTableTypes(), "TABLE_TYPE").contains("TABLE"));
        told("tables", column(data.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME"));
        told("allTables", column(data.getTables(null, null, "pat%", null), "TABLE_NAME"));
        told("remarks", column(data.getTables(null, "public", "labs", null), "REMARKS"));
        told("columns", column(data.getColumns(null, "public", "patients", "%"), "COLUMN_NAME"));
        told("typeNames", column(data.getColumns(null, "public", "patients", "%"), "TYPE_NAME"));
        told("sizes", column(data.getColumns(null, "public", "patients", "bmi"), "COLUMN_SIZE"));
        told("nullable", column(data.getColumns(null, "public", "patients", "%"), "IS_NULLABLE"));
        told("primaryKeys", column(data.getPrimaryKeys(null, "public", "patients"), "COLUMN_NAME"));
        told("importedKeys", column(data.getImportedKeys(null, "public", "diagnoses"), "PKTABLE_NAME"));
        told("exportedKeys", column(data.getExportedKeys(null, "public", "patients"), "FKTABLE_NAME"));
        told("crossReference", column(data.getCrossReference(null, "public", "patients", null, "public", "labs"), "FKCOLUMN_NAME"));
        told("indexes", column(data.getIndexInfo(null, "public", "patients", true, true), "COLUMN_NAME"));
        told("bestRow", column(data.getBestRowIdentifier(null, "public", "patients", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"));
        told("versionColumns", column(data.getVersionColumns(null, "public", "patients"), "COLUMN_NAME").size() < 10);
        told("tableRows", rows(data.getTables(null, "public", "%", new String[] {"TABLE"}), "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE"));
        told("columnRows", rows(data.getColumns(null, "public", "patients", "%"), "TABLE_NAME", "ORDINAL_POSITION", "COLUMN_NAME",
            "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE", "IS_AUTOINCREMENT", "COLUMN_DEF"));
        told("keyRows", rows(data.getPrimaryKeys(null, "public", "patients"), "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME", "KEY_SEQ"));
        told("referenceRows", rows(data.getImportedKeys(null, "public", "diagnoses"), "PKTABLE_SCHEM", "PKTABLE_NAME", "PKCOLUMN_NAME",
            "FKTABLE_NAME", "FKCOLUMN_NAME", "KEY_SEQ", "UPDATE_RULE", "DELETE_RULE"));
        told("typeInfo", column(data.getTypeInfo(), "TYPE_NAME").containsAll(List.of("int4", "numeric", "text", "timestamptz")));
        told("procedures", column(data.getProcedures(null, "public", "%"), "PROCEDURE_NAME"));
        told("someFunctions", !column(data.getFunctions(null, "pg_catalog", "flo%"), "FUNCTION_NAME").isEmpty());
        told("functionColumns", column(data.getFunctionColumns(null, "public", "%", "%"), "COLUMN_NAME"));
        told("tablePrivileges", column(data.getTablePrivileges(null, "public", "patients"), "PRIVILEGE").contains("SELECT"));
        told("columnPrivileges", column(data.getColumnPrivileges(null, "public", "patients", "age"), "PRIVILEGE") != null);
        told("udts", column(data.getUDTs(null, "public", "no%", null), "TYPE_NAME"));
        told("superTypes", supported(() -> data.getSuperTypes(null, "public", "%")));
        told("client", column(data.getClientInfoProperties(), "NAME"));
        connection.setClientInfo("ApplicationName", "tests");
        told("clientInfo", connection.getClientInfo("ApplicationName"));
        told("schema", connection.getSchema() + " " + connection.getCatalog());
    }

    interface Asked {
        ResultSet ask() throws SQLException;
    }

    static String supported(Asked asked) {
        try {
            asked.ask().close();
            return "yes";
        } catch (SQLException error) {
            return error.getClass().getSimpleName();
        }
    }

    static void cancel(Connection connection, String[] wanted) throws Exception {
        try (Statement statement = connection.createStatement()) {
            new Timer(true).schedule(new TimerTask() {
                public void run() {
                    try {
                        statement.cancel();
                    } catch (SQLException ignored) {
                    }
                }
            }, 700);
            statement.executeQuery(wanted[7]);
        } catch (SQLException error) {
            told("cancelled", error.getSQLState());
        }
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(1);
            statement.executeQuery(wanted[7]);
        } catch (SQLException error) {
            told("timeout", error.getSQLState());
        }
        told("alive", connection.isValid(10));
    }
}
